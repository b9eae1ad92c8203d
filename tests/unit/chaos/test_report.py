"""When a run of chaos has failed: any one reason is enough, and a run that tried nothing is one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from chaos.again import Retried
from chaos.faults import Kind
from chaos.outcome import Outcome
from chaos.report import EXPECTED, again, judged, lines
from chaos.tally import Tally
from loadtest.run import RunSettings
from loadtest.verdict import Counts, Verdict, Violation
from loadtest.verdict import Kind as Broken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEYS, SKEW = 40, 90


@pytest.fixture
def outcome(tmp_path: Path) -> Iterator[Outcome]:
    """A run in which all went well."""
    tally = Tally(tmp_path / "faults.log")
    for kind in Kind:
        tally.add(kind)
    tally.before.update(EXPECTED)
    tally.after.update(EXPECTED)
    tally.clocks = {(1, -SKEW), (2, 0)}
    yield Outcome(
        tally,
        lost=3,
        delivered=9,
        retried=Retried(45, KEYS, ()),
        left={"orders-dlq": 0},
        verdict=_verdict(),
    )
    tally.close()


def _verdict(*violations: Violation, writes: int = KEYS) -> Verdict:
    by_kind = {one.kind.value: 1 for one in violations}
    return Verdict(
        Counts(writes=writes),
        violations,
        by_kind,
        events_checked=True,
        writes_per_key={},
        downstream_checked=True,
    )


def test_a_run_in_which_all_went_well_has_not_failed(outcome: Outcome) -> None:
    assert judged(outcome, SKEW) == []


@pytest.mark.parametrize("kind", list(Kind))
def test_a_kind_of_fault_that_was_never_injected_fails_the_run(outcome: Outcome, kind: Kind) -> None:
    del outcome.tally.counts[kind]
    assert judged(outcome, SKEW) == [f"no fault was injected of the kind: {kind.value}"]


def test_a_violation_fails_the_run_and_is_named_with_its_key(outcome: Outcome) -> None:
    outcome.verdict = _verdict(Violation(Broken.LOST_EVENT, "storm-a", "storm-abc-7", "gone"))
    assert judged(outcome, SKEW) == ["VIOLATION lost-event: tenant storm-a, key storm-abc-7: gone"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"lost": 0}, "lost no stream record"),
        ({"waiting": 2}, "2 messages are left in the queues of work"),
        ({"left": {"orders-dlq": 1}}, "1 letters are left in orders-dlq"),
        ({"retried": Retried(45, KEYS, ("storm-a#k",))}, "no answer that stands, however often .*storm-a#k"),
        ({"verdict": _verdict(writes=KEYS - 1)}, f"{KEYS} keys of tenants, and {KEYS - 1} receipts"),
        ({"verdict": None}, "not judged"),
        ({"unexplained": ("storm-a#k1",)}, "LOST by dispatch, and by no restart: .*storm-a, key k1"),
        ({"delivered": 0}, "notify took no event"),
        ({"verdict": replace(_verdict(writes=KEYS), events_checked=False)}, "no events were checked"),
        (
            {"verdict": replace(_verdict(writes=KEYS), downstream_checked=False)},
            "nothing outside was checked",
        ),
    ],
)
def test_each_condition_of_the_end_fails_the_run(
    outcome: Outcome, changed: dict[str, Any], said: str
) -> None:
    for name, value in changed.items():
        setattr(outcome, name, value)
    [failure] = judged(outcome, SKEW)
    assert re.search(said, failure)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("pair", sorted(EXPECTED))
def test_a_function_that_went_past_the_proxy_fails_the_run(
    outcome: Outcome, when: str, pair: tuple[str, str]
) -> None:
    del getattr(outcome.tally, when)[pair]
    said = f"no call of {pair[0]} to {pair[1]} came through the proxy {when} the restart"
    assert judged(outcome, SKEW) == [said]


def test_clocks_that_were_never_as_far_apart_as_they_should_be_fail_the_run(outcome: Outcome) -> None:
    outcome.tally.clocks = {(1, -40), (2, 30)}
    assert judged(outcome, SKEW) == ["no two clocks were 90 s apart, but 70 s at most"]


def test_a_run_that_broke_off_has_a_table_too(outcome: Outcome) -> None:
    outcome.verdict = outcome.retried = None
    text = "\n".join(lines(outcome))
    assert all(kind.value in text for kind in Kind)


def test_the_table_has_a_line_for_every_kind(outcome: Outcome) -> None:
    text = "\n".join(lines(outcome))
    assert all(kind.value in text for kind in Kind)


def test_a_failed_run_says_how_to_repeat_it_and_where_it_is(tmp_path: Path) -> None:
    settings = RunSettings("abcdef", "local", 4711, 500, 50, ("a", "b"), 10.0, 4, 4)
    said = again(settings, tmp_path, "own-write-unknown", 15)
    assert "make chaos SEED=4711" in said
    assert "--requests 500 --keys 50 --seconds 50 --skew 15 --plant own-write-unknown" in said
    assert str(tmp_path) in said
