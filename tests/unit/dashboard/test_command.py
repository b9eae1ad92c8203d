"""`onceward dashboard` on the command line."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from ops.cli import app
from ops.dashboard.sources import Recorded
from tests.unit.dashboard.made import body, counts
from tests.unit.dashboard.test_runs import kept

if TYPE_CHECKING:
    from pathlib import Path

RUN = CliRunner()


def dashboard(home: Path, *arguments: str) -> Any:
    return RUN.invoke(app, ["dashboard", "--home", str(home), *arguments], env={"COLUMNS": "200"})


def test_a_run_s_data_is_printed(tmp_path: Path) -> None:
    kept(tmp_path, "aaa111", at=1000)
    result = dashboard(tmp_path, "--json", "--range", "5m", "--period", "fine")
    assert result.exit_code == 0, result.output
    drawn = json.loads(result.stdout)
    assert (drawn["name"], drawn["live"], drawn["widgets"][0]["title"]) == (
        "onceward-local_platform",
        False,
        "Accepted",
    )
    assert sum(value for _, value in drawn["widgets"][0]["lines"][0]["points"]) == 360


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--run", "zzz"), "aaa111"),
        (("--json", "--show", "none"), "onceward-local_platform"),
        (("--json", "--set", "tenant"), "ID=VALUE"),
        (("--json", "--range", "2m"), "5m"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    kept(tmp_path, "aaa111", at=1000)
    result = dashboard(tmp_path, *arguments)
    assert result.exit_code == 2
    assert said in result.output


def with_a_tenant_to_choose(home: Path) -> None:
    variable = {"id": "tenant", "type": "pattern", "pattern": "acme", "values": [{"value": "globex"}]}
    directory = kept(home, "aaa111", at=1000) / "dashboards"
    (directory / "tenants.json").write_text(body(counts(), variables=[variable]), encoding="utf-8")


def test_a_variable_that_the_dashboard_has_not_is_refused_with_those_that_it_has(tmp_path: Path) -> None:
    with_a_tenant_to_choose(tmp_path)
    shown = ("--json", "--show", "tenants", "--set")
    misspelled = dashboard(tmp_path, *shown, "tennant=globex")
    assert (misspelled.exit_code, misspelled.stdout) == (2, "")
    assert "there are tenant" in misspelled.stderr
    chosen = dashboard(tmp_path, *shown, "tenant=globex")
    assert json.loads(chosen.stdout)["variables"][0]["value"] == "globex"
    assert "there are none" in dashboard(tmp_path, "--json", "--set", "tenant=globex").stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--show", "onceward-local_platform"),
        ("--set", "tenant=acme"),
        ("--range", "5m"),
        ("--period", "fine"),
    ],
)
def test_what_only_a_script_can_choose_is_refused_without_json(
    tmp_path: Path, option: str, value: str
) -> None:
    kept(tmp_path, "aaa111", at=1000)
    result = dashboard(tmp_path, option, value, "--port", "0", "--seconds", "0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert option in result.stderr
    assert "--json" in result.stderr


def test_nothing_to_show_says_what_makes_some(tmp_path: Path) -> None:
    result = dashboard(tmp_path)
    assert result.exit_code == 1
    assert "make demo" in result.output


def test_it_stops_by_itself_when_told_to(tmp_path: Path) -> None:
    kept(tmp_path, "aaa111", at=1000)
    result = dashboard(tmp_path, "--port", "0", "--seconds", "0")
    assert result.exit_code == 0, result.output
    assert "Run aaa111: http://127.0.0.1:" in result.output


# Ctrl-C as in a terminal: where a shell has started the tests in the background, it is ignored.
_HEARING = """
import signal
from ops.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def test_ctrl_c_ends_it_without_a_trace(tmp_path: Path) -> None:
    kept(tmp_path, "aaa111", at=1000)
    # Should it not hear, it ends by itself, and the test with it.
    command = [sys.executable, "-u", "-c", _HEARING, "dashboard", "--port", "0", "--seconds", "60"]
    with subprocess.Popen(
        [*command, "--home", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert "http://127.0.0.1:" in running.stdout.readline()
        running.stdout.readline()  # how to end it: from here on it waits
        running.send_signal(signal.SIGINT)
        _, complaints = running.communicate(timeout=60)
    assert (running.returncode, complaints) == (0, "")


def test_a_taken_port_is_told(tmp_path: Path) -> None:
    import socket

    kept(tmp_path, "aaa111", at=1000)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = dashboard(tmp_path, "--port", str(taken.getsockname()[1]), "--seconds", "0")
    assert result.exit_code == 1
    assert "--port" in result.output


def test_what_is_no_fault_of_the_port_is_told_as_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_source: Recorded) -> Recorded:
        raise OSError(errno.ENOSPC, "No space left on device")

    kept(tmp_path, "aaa111", at=1000)
    monkeypatch.setattr(Recorded, "__enter__", full)
    result = dashboard(tmp_path, "--port", "0", "--seconds", "0")
    assert result.exit_code == 1
    assert "No space left" in result.output
    assert "Port 0" not in result.output


def test_what_is_asked_for_is_checked_before_anything_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(_home: Path, _run: str | None) -> Recorded:
        pytest.fail("it was opened")

    monkeypatch.setattr("ops.commands.dashboard._source", opened)
    for arguments in (("--range", "2m"), ("--set", "tenant")):
        assert dashboard(tmp_path, "--json", *arguments).exit_code == 2


def test_help_has_examples() -> None:
    result = RUN.invoke(app, ["dashboard", "--help"])
    assert "onceward dashboard --run" in result.output
