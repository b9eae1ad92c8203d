"""A small soak from the command line to its figures: tenants, platform, storm, judge, memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from typer.testing import CliRunner

from ops import memory_watch, soak_figures
from ops.cli import app
from ops.soak_tenants import tenant_ids

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.platform, pytest.mark.storm, pytest.mark.xdist_group("soak")]

# As in test_storm: every scenario of every operation; few clients at once, since each is a cold worker.
REQUESTS, KEYS, TENANTS = 400, 45, 3
SIZE = ("--requests", "400", "--keys", "45", "--tenants", "3", "--rate", "60", "--users", "3", "--burst", "4")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a soak's run."""
    home = tmp_path_factory.mktemp("soak")
    done = CliRunner().invoke(app, ["soak", *SIZE, "--seed", "5", "--home", str(home), "--json"])
    assert done.exit_code == 0, done.output
    (directory,) = (home / "runs").iterdir()
    assert json.loads(done.stdout) == json.loads((directory / "soak.json").read_text())
    return directory


@pytest.fixture
def found(run: Path) -> dict[str, Any]:
    """What it found."""
    figures: dict[str, Any] = json.loads((run / "soak.json").read_text())
    return figures


def test_it_passes_with_the_size_asked_for(found: dict[str, Any]) -> None:
    counts = found["verdict"]["counts"]
    assert (found["passed"], found["constant"], found["verdict"]["violations"]) == (True, True, 0)
    assert (counts["requests"], counts["keys"], found["tenants"]) == (REQUESTS, KEYS, TENANTS)
    assert sorted(found["verdict"]["operations"]) == [
        "appointments",
        "leads",
        "orders",
        "payments",
        "webhooks",
    ]


def test_the_memory_of_each_process_was_seen(found: dict[str, Any]) -> None:
    rows = {row["name"]: row for row in found["memory"]}
    judged = {memory_watch.LOCUST, memory_watch.HANDLERS, memory_watch.JUDGING}
    assert set(rows) == judged | {memory_watch.EMULATOR, memory_watch.STAND_IN}
    for name, row in rows.items():
        assert row["afterWarmUpMb"] > 15.0, "a Python process with something in it"
        assert row["constant"] is (True if name in judged else None)


def test_its_figures_are_written_as_markdown_and_its_platform_is_gone(
    run: Path, found: dict[str, Any]
) -> None:
    text = (run / "soak.md").read_text()
    assert text == soak_figures.markdown(found)
    assert f"| tenants | {TENANTS} |" in text
    record = json.loads((run.parents[1] / "emulator.json").read_text())
    assert not psutil.pid_exists(record["process"]["pid"])
    assert tenant_ids(TENANTS) == tuple(
        sorted(file.stem for file in (run.parents[1] / "soak-tenants").glob("soak-*.yaml"))
    )
