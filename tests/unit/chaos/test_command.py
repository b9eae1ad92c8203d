"""The command: what it refuses, what it says when a run breaks off, and that what it says repeats the run."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from chaos import __main__ as command
from chaos.faults import Kind

if TYPE_CHECKING:
    from pathlib import Path

    from chaos.outcome import Outcome
    from chaos.run import Run

SIZE = [
    "--requests",
    "200",
    "--keys",
    "45",
    "--seconds",
    "20",
    "--skew",
    "15",
    "--plant",
    "own-write-unknown",
]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that were begun; each breaks off with an error that nobody foresaw, after a fault."""
    begun: list[Run] = []

    def run(wanted: Run, outcome: Outcome) -> None:
        begun.append(wanted)
        outcome.tally.add(Kind.THROTTLE, times=17)
        raise KeyError("nobody foresaw this")

    monkeypatch.setattr(command, "run", run)
    return begun


def _call(*words: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(command.main)
    result = CliRunner().invoke(app, words)
    return result.exit_code, result.output


def test_whatever_breaks_a_run_it_says_how_to_repeat_it_and_what_was_injected(
    runs: list[Run], tmp_path: Path
) -> None:
    code, said = _call("--seed", "7", *SIZE, "--home", str(tmp_path / "home"))
    assert code == 1
    assert re.search(r"FAILED: .* KeyError: 'nobody foresaw this'", said)
    assert re.search(r"throttled +17\b", said)
    assert "make chaos SEED=7" in said
    assert "nobody foresaw" in (tmp_path / "home" / "error.txt").read_text(encoding="utf-8")


def test_the_line_that_is_printed_repeats_the_run(runs: list[Run], tmp_path: Path) -> None:
    _, said = _call("--seed", "7", *SIZE, "--home", str(tmp_path / "one"))
    told = re.search(r"make chaos SEED=(\d+) CHAOS='([^']*)'", said)
    assert told is not None, said
    _call("--seed", told[1], *shlex.split(told[2]), "--home", str(tmp_path / "two"))
    first, again = runs
    assert replace(again.settings, run_id=first.settings.run_id) == first.settings
    assert again.code == first.code
    assert first.code.plant is not None


def test_a_directory_that_holds_anything_is_refused_and_left_as_it_is(
    runs: list[Run], tmp_path: Path
) -> None:
    (tmp_path / "state.json").write_text("{}", encoding="utf-8")
    code, said = _call("--seed", "7", *SIZE, "--home", str(tmp_path))
    assert code == 2
    # The terminal's width breaks the message where it likes.
    assert "is not empty" in " ".join(said.replace("│", " ").split())
    assert [one.name for one in tmp_path.iterdir()] == ["state.json"]
    assert runs == []


def test_a_plant_that_does_not_exist_is_refused(runs: list[Run], tmp_path: Path) -> None:
    code, _ = _call("--plant", "nothing-like-it", "--home", str(tmp_path))
    assert code == 2
    assert runs == []
