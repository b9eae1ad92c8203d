"""Which run's metrics are shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ops.dashboard import runs
from tests.unit.dashboard.made import body, counts, store

if TYPE_CHECKING:
    from pathlib import Path


def kept(home: Path, run: str, *, at: float) -> Path:
    """A run's directory with metrics and one dashboard."""
    directory = home / "runs" / run
    (directory / "dashboards").mkdir(parents=True)
    store(directory).close()
    (directory / "dashboards" / "onceward-local_platform.json").write_text(body(counts()), encoding="utf-8")
    os.utime(directory / "metrics.sqlite", (at, at))
    return directory


def test_the_newest_run_is_found_in_the_home_or_in_the_demo_s(tmp_path: Path) -> None:
    kept(tmp_path, "aaa111", at=1000)
    demo = kept(tmp_path / "demo", "bbb222", at=2000)
    (tmp_path / "runs" / "ccc333").mkdir()  # a run without metrics
    newest = runs.newest(tmp_path)
    assert newest is not None
    assert newest.directory == demo
    assert runs.ids(tmp_path) == ["bbb222", "aaa111"]


def test_a_run_is_found_by_its_id(tmp_path: Path) -> None:
    directory = kept(tmp_path / "demo", "bbb222", at=2000)
    named = runs.named("bbb222", tmp_path)
    assert named is not None
    assert named.directory == directory
    assert list(named.bodies()) == ["onceward-local_platform"]
    assert runs.named("other", tmp_path) is None


def test_a_run_is_found_by_its_directory_wherever_that_is(tmp_path: Path) -> None:
    directory = kept(tmp_path / "elsewhere", "bbb222", at=2000)
    named = runs.named(str(directory), tmp_path)
    assert named is not None
    assert named.directory == directory
    assert runs.named(str(tmp_path), tmp_path) is None


def test_the_storm_that_goes_on_is_the_newest_without_a_verdict_since_the_platform_came_up(
    tmp_path: Path,
) -> None:
    (tmp_path / "local.json").write_text("{}", encoding="utf-8")
    os.utime(tmp_path / "local.json", (1000, 1000))
    assert runs.going_on(tmp_path) is None
    for run, began in (("before", 900), ("first", 1100), ("second", 1200), ("over", 1300)):
        directory = tmp_path / "runs" / run
        directory.mkdir(parents=True)
        (directory / "run.json").write_text("{}", encoding="utf-8")
        os.utime(directory / "run.json", (began, began))
    (tmp_path / "runs" / "over" / "summary.json").write_text("{}", encoding="utf-8")
    assert runs.going_on(tmp_path) == tmp_path / "runs" / "second"


def test_no_storm_goes_on_where_the_platform_has_gone_down(tmp_path: Path) -> None:
    (tmp_path / "runs" / "aaa111").mkdir(parents=True)
    (tmp_path / "runs" / "aaa111" / "run.json").write_text("{}", encoding="utf-8")
    assert runs.going_on(tmp_path) is None


def test_there_is_none_where_nothing_was_kept(tmp_path: Path) -> None:
    assert runs.newest(tmp_path) is None
    assert runs.ids(tmp_path) == []
