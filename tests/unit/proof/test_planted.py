"""Negative controls: the search finds each planted version, by its smallest schedule, and nothing without."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import proof
from proof import planted
from proof.planted import report
from proof.requests import unmeasured
from proof.scenarios import QUICK
from proof.search import search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proof.planted import Planted

# Whose sentences are no rules: how schedules are told. And the peer (docs/adr/0113): its own rules, which it
# is found to break.
_NO_RULES = ("wording.py", "peer")
_MODULES = sorted(
    path for path in Path(proof.__file__).parent.glob("*.py") if not path.name.startswith(_NO_RULES)
)
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


def test_every_rule_is_broken_by_something_that_is_planted() -> None:
    told = [one.breaks for one in planted.ALL]
    rules = list(_rules())
    assert len(rules) > 20
    unbroken = [
        f"{place}: {rule}" for place, rule in rules if not any(re.fullmatch(rule, one) for one in told)
    ]
    assert not unbroken, "rules that no planted version trips (see proof/planted): a check that cannot fail"


def _rules() -> Iterator[tuple[str, str]]:
    """Each sentence that a rule yields, or that a port puts into what it has found broken, as a pattern."""
    for path in _MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield from ((f"{path.name}:{said.lineno}", _pattern(said)) for said in _said(node))


def _said(node: ast.AST) -> Iterator[ast.JoinedStr | ast.Constant]:
    # A tuple is what time may do to a port (`Port.lapses`): what that breaks is put together before.
    if isinstance(node, ast.Yield) and node.value is not None and not isinstance(node.value, ast.Tuple):
        yield from _texts(node.value)
    elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "broken":
        parts = [node.value.elt] if isinstance(node.value, ast.ListComp) else [node.value]
        yield from (text for part in parts for text in _texts(part))
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "broken.append":
        yield from _texts(node.args[0])


def _texts(value: ast.expr) -> Iterator[ast.JoinedStr | ast.Constant]:
    """The texts that an expression may be."""
    if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        yield value
    elif isinstance(value, ast.IfExp):
        yield from (*_texts(value.body), *_texts(value.orelse))
    elif isinstance(value, ast.Tuple):
        yield from (text for part in value.elts for text in _texts(part))


def _pattern(text: ast.JoinedStr | ast.Constant) -> str:
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in parts)


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
