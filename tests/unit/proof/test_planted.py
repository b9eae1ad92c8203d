"""Negative controls: the search finds each planted version, by its smallest schedule, and nothing without."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from proof import planted
from proof.planted import report
from proof.requests import unmeasured
from proof.scenarios import QUICK
from proof.search import search

if TYPE_CHECKING:
    from proof.planted import Planted

# Each scenario once, and none that tests/unit/proof/test_search.py searches anyway.
_SCENARIOS = {repr(one.scenario): one for one in planted.ALL if repr(one.scenario) not in map(repr, QUICK)}


@pytest.mark.parametrize("one", planted.ALL, ids=lambda one: one.name)
def test_what_is_planted_is_found_by_its_smallest_schedule(one: Planted) -> None:
    finding = report.finding(one)
    assert one.breaks in finding.broken
    assert (finding.moves, finding.faults) == (one.moves, one.faults)
    assert finding.passed
    _is_readable(finding)


def _is_readable(finding: report.Finding) -> None:
    lines = finding.story.splitlines()
    numbered = [int(found[1]) for line in lines if (found := re.match(r" +(\d+)\. at .*: ", line))]
    assert numbered == list(range(1, finding.moves + 1))
    assert f"  => BROKEN: {finding.planted.breaks}" in lines
    assert max(map(len, lines)) <= 110
    assert not re.search(r"[{}]|_aws|random", finding.story), finding.story


@pytest.mark.parametrize("one", _SCENARIOS.values(), ids=lambda one: one.name)
def test_without_what_is_planted_nothing_is_found(one: Planted) -> None:
    with unmeasured():
        found = search(one.scenario())
    assert found.complete, found.broken


def test_names_are_told_apart_and_say_what_they_are() -> None:
    names = [one.name for one in planted.ALL]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z-]+", name) for name in names)
    assert all(one.what.endswith(".") and len(one.what) < 110 for one in planted.ALL)


def test_a_finding_that_is_another_or_by_a_larger_schedule_does_not_pass() -> None:
    one = planted.ALL[0]
    found = report.Finding(one, (one.breaks,), one.moves, one.faults, 1, 0.0, "")
    assert found.passed
    assert not report.Finding(one, ("something else",), one.moves, one.faults, 1, 0.0, "").passed
    assert not report.Finding(one, (one.breaks,), one.moves + 1, one.faults, 1, 0.0, "").passed
    assert not report.Finding(one, (one.breaks,), one.moves, one.faults + 1, 1, 0.0, "").passed


def test_the_table_and_the_schedules_are_markdown() -> None:
    told: list[str] = []
    made = report.findings(planted.ALL[:2], lambda finding: told.append(finding.line()))
    assert [line.partition(":")[0] for line in told] == ["found", "found"]
    rows = report.table(made).splitlines()
    assert len(rows) == 2 + len(made)
    assert {row.count("|") for row in rows} == {8}
    assert made[0].planted.what in rows[2]
    text = report.schedules(made)
    assert text.startswith(f"### {made[0].planted.name}\n")
    assert made[1].story in text
