"""A run's files that are not what they are called: a message that names the file, and exit code 2."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from ops.cli import app
from ops.dashboard.runs import RunFiles
from ops.dashboard.sources import Recorded
from ops.observing.store import BrokenMetrics
from tests.unit.dashboard.made import body, counts, store
from tests.unit.dashboard.pages import MadeSource, site
from tests.unit.dashboard.test_runs import kept
from tests.unit.dashboard.test_site import get
from tests.unit.dashboard.test_sources import alarms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ops.dashboard.drawing import Seen

DASHBOARD = ("dashboard", "--json")
ALARMS = ("alarms",)


def garbage(file: Path) -> None:
    file.write_bytes(b"no database at all" * 100)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def truncated(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])


def without_tables(file: Path) -> None:
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 1")


def another_schema(file: Path) -> None:
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE sample (id INTEGER)")
        connection.execute("CREATE TABLE series (id INTEGER)")


def damaged_inside(file: Path) -> None:
    """Pages of the middle overwritten: the schema is there, the values are not."""
    whole = bytearray(file.read_bytes())
    page = 4096
    for begin in range(page, len(whole), page):
        if whole[begin] not in (2, 5):  # an inner page is kept: the damage is further down
            whole[begin : begin + page] = b"\xff" * page
    file.write_bytes(whole)


BREAKS = [garbage, empty, truncated, without_tables, another_schema, damaged_inside]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The directory of a run, `aaa111`, of which nothing is broken."""
    directory = kept(tmp_path, "aaa111", at=1000)
    (directory / "alarms.json").write_text(alarms().to_json(), encoding="utf-8")
    return directory


def asked(run: Path, *command: str) -> Any:
    home = run.parents[1]
    return CliRunner().invoke(app, [*command, "--home", str(home), "--run", run.name], env={"COLUMNS": "400"})


@pytest.mark.parametrize("command", [DASHBOARD, ALARMS])
@pytest.mark.parametrize("broken", BREAKS)
def test_metrics_that_cannot_be_read_are_told_with_their_file(
    run: Path, broken: Callable[[Path], None], command: tuple[str, ...]
) -> None:
    assert asked(run, *command).exit_code in (0, 1)  # the alarm rings
    broken(run / "metrics.sqlite")
    result = asked(run, *command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert str(run / "metrics.sqlite") in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"alarms": [{"type": "x"}]}', '{"alarms": 3}', "\xff"])
@pytest.mark.parametrize("command", [DASHBOARD, ALARMS])
def test_alarms_that_cannot_be_read_are_told_with_their_file(
    run: Path, command: tuple[str, ...], text: str
) -> None:
    (run / "alarms.json").write_text(text, encoding="latin-1")
    result = asked(run, *command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert str(run / "alarms.json") in result.stderr


@pytest.mark.parametrize("changed", [{"threshold": None}, {"period": "often"}])
def test_an_alarm_with_an_odd_value_is_told_with_its_file(run: Path, changed: dict[str, object]) -> None:
    (run / "alarms.json").write_text(alarms(**changed).to_json(), encoding="utf-8")
    for command in (DASHBOARD, ALARMS):
        result = asked(run, *command)
        assert result.exit_code == 2
        assert str(run / "alarms.json") in result.stderr


@pytest.mark.parametrize("text", ["{", "\xff", '{"widgets": [{}]}'])
def test_a_dashboard_that_cannot_be_read_is_told_with_its_file(run: Path, text: str) -> None:
    (run / "dashboards" / "onceward-local_platform.json").write_text(text, encoding="latin-1")
    result = asked(run, *DASHBOARD)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Run aaa111, dashboard onceward-local_platform.json: " in result.stderr


def test_without_its_dashboards_a_run_has_its_alarms_and_says_what_it_lacks(run: Path) -> None:
    (run / "dashboards" / "onceward-local_platform.json").unlink()
    (run / "dashboards").rmdir()
    assert "flood" in asked(run, *ALARMS).stdout
    result = asked(run, *DASHBOARD)
    assert result.exit_code == 2
    assert "no dashboards were kept" in result.stderr


@pytest.mark.parametrize("file", ["alarms.json", "metrics.sqlite"])
def test_what_a_run_lacks_is_said_and_not_that_there_is_no_run(run: Path, file: str) -> None:
    (run / file).unlink()
    result = asked(run, *ALARMS)
    assert result.exit_code == 2
    assert str(run / file) in result.stderr
    assert "no run" not in result.stderr


def test_the_server_answers_that_the_metrics_cannot_be_read(tmp_path: Path) -> None:
    class Broken(MadeSource):
        def seen(self) -> Seen:
            raise BrokenMetrics("metrics.sqlite: no metrics can be read from it")

        def bodies(self) -> Mapping[str, str]:
            return {"one": body(counts())}

    with store(tmp_path) as metrics, site(Broken(metrics, {})) as url:
        status, _, text = get(url, "/api/dashboard?name=one")
    assert status == 422
    assert "metrics.sqlite" in json.loads(text)["detail"]


def test_damage_that_comes_while_it_is_served_is_answered(run: Path) -> None:
    with Recorded(RunFiles(run)) as source:
        truncated(run / "metrics.sqlite")
        with pytest.raises(BrokenMetrics, match=r"metrics\.sqlite"):
            source.seen().store.names()
