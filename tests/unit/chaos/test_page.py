"""The table of runs: one row for each seed and plant, the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chaos import page
from chaos.outcome import Outcome
from chaos.tally import Tally
from loadtest.run import RunSettings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    path = tmp_path / "proof.md"
    path.write_text("before\n<!-- chaos -->\nnot yet run\n<!-- /chaos -->\nafter\n", encoding="utf-8")
    return path


def _row(tmp_path: Path, seed: int, plant: str | None, *failures: str) -> list[str]:
    settings = RunSettings("abcdef", "local", seed, 2_500, 50, ("a", "b"), 10.0, 4, 4)
    tally = Tally(tmp_path / "faults.log")
    tally.close()
    return page.row(settings, Outcome(tally, lost=3, redriven={"a": 1, "b": 2}), plant, failures)


def test_runs_stand_beside_each_other_and_a_newer_one_takes_the_place_of_its_like(
    tmp_path: Path, proof: Path
) -> None:
    page.write(proof, _row(tmp_path, 7, "notify-forgets", "VIOLATION lost-event: tenant a, key k: gone"))
    page.write(proof, _row(tmp_path, 11, None))
    page.write(proof, _row(tmp_path, 7, "notify-forgets", "LOST by dispatch, and by no restart: x"))
    text = proof.read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    rows = [row for row in rows if not row[0].startswith("| ---")]
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("| nothing", "11", "- |"),
        ("| notify-forgets", "7", "LOST by dispatch |"),
    ]
    assert text.startswith("before\n")
    assert text.endswith("after\n")


def test_a_failed_run_is_not_told_as_one_that_passed(tmp_path: Path) -> None:
    assert _row(tmp_path, 7, None, "notify took no event off the bus")[-1] == "FAILED"
    assert _row(tmp_path, 7, None)[-1] == "-"


def test_a_page_without_the_part_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.md"
    other.write_text("nothing here\n", encoding="utf-8")
    with pytest.raises(ValueError, match="0 parts are marked chaos"):
        page.write(other, _row(tmp_path, 7, None))
