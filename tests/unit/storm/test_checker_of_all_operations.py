"""The checker's rules for payments, appointments, orders and webhooks: what passes, and what is noticed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from loadtest import one_key
from loadtest.answers import Answers
from loadtest.expected import Expected
from loadtest.history import Outcome
from loadtest.operations import APPOINTMENTS
from loadtest.verdict import Kind, Violations
from tests.unit.storm.planted_wide import PLANTED, UNORDERED
from tests.unit.storm.wide_stories import BOOKED, PAID, WideStory, good, pk_of

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_good_story_of_all_operations_passes_with_everything_counted() -> None:
    verdict = good().verdict()
    assert verdict.violations == ()
    counts = verdict.counts
    assert (counts.writes, counts.records, counts.events) == (14, 10, 10)
    assert (counts.charges, counts.entities) == (2, 6)
    assert (counts.created, counts.declined, counts.in_progress, counts.conflicts) == (10, 4, 2, 3)
    assert verdict.writes_per_key == {1: 14}


def test_what_each_operation_left_behind_is_counted_where_it_is() -> None:
    story = good()
    left = story.verdict().by_operation
    assert left["orders"] == {"receipts": 2, "records": 2, "refusedForGood": 0, "events": 2, "entities": 2}
    assert left["webhooks"] == {"receipts": 4, "records": 4, "refusedForGood": 0, "events": 4, "entities": 4}
    assert left["payments"] == {"receipts": 4, "records": 2, "refusedForGood": 2, "events": 2, "charges": 2}
    assert left["appointments"] == {"receipts": 4, "records": 2, "refusedForGood": 2, "events": 2, "slots": 2}
    assert "charges" not in story.wide_verdict(outside=False).by_operation["payments"]


def test_effects_and_refusals_that_stand_are_counted_apart() -> None:
    counts = good().verdict().counts
    assert (counts.writes, counts.effects, counts.refusals) == (14, 10, 4)


def test_an_effect_whose_first_answer_nobody_heard_is_counted_all_the_same() -> None:
    story = good()
    for number, one in enumerate(story.attempts):
        if not one.replayed and one.status in {201, 402}:
            story.attempts[number] = replace(one, status=None, response_body=None, dropped=True)
    verdict = story.verdict()
    assert verdict.passed
    assert verdict.counts.created < verdict.counts.effects == 10
    assert verdict.counts.declined < verdict.counts.refusals == 4


@pytest.mark.parametrize(("spoil", "expected"), PLANTED, ids=[spoil.__name__ for spoil, _ in PLANTED])
def test_a_planted_violation_is_named_with_its_key(
    spoil: Callable[[WideStory], None], expected: dict[Kind, tuple[str, str]]
) -> None:
    story = good()
    spoil(story)
    broken = story.broken()
    assert set(broken) - {Kind.NOT_LINEARIZABLE} == set(expected), story.verdict().violations
    assert (Kind.NOT_LINEARIZABLE in broken) is (spoil in UNORDERED), story.verdict().violations
    for kind, where in expected.items():
        assert where in broken[kind], f"{kind}: {broken}"


def test_without_a_stand_in_nothing_is_said_about_charges_and_entities() -> None:
    story = good()
    story.charges.clear()
    story.entities.clear()
    verdict = story.wide_verdict(outside=False)
    assert verdict.passed
    assert not verdict.downstream_checked
    assert not story.verdict().passed


def test_a_duplicate_that_began_before_the_answer_was_known_may_be_told_that_it_runs() -> None:
    story = good()
    story.running(PAID, start_ms=1031.0 + 200.0)  # a clock may be off by a quarter of a second
    assert story.verdict().passed


def test_in_execute_mode_an_attempt_that_nobody_saw_may_have_left_its_claim_to_another() -> None:
    story = good()
    story.receipts[pk_of(BOOKED)] = replace(
        story.receipts[pk_of(BOOKED)], correlation_id="of the dropped one"
    )
    at = next(
        n for n, one in enumerate(story.events) if one.event_id == story.receipts[pk_of(BOOKED)].event_id
    )
    story.events[at] = replace(story.events[at], correlation_id="of the dropped one")
    assert story.broken() == {Kind.WRONG_CONTENT: [(BOOKED.tenant, pk_of(BOOKED).partition("#")[2])]}
    first = next(one for one in story.attempts if one.derived_key == pk_of(BOOKED).partition("#")[2])
    story.attempts.append(replace(first, attempt_id="of the dropped one", status=None, dropped=True))
    assert story.verdict().passed


SKEW_MS: Final = 90_000.0
SLOW: Final = {"start_ms": 0.0, "end_ms": 9_000.0}


def _said(told: Callable[[WideStory], object], skew_ms: float = 0.0, **change: Any) -> list[Kind]:
    """What is said of a booking when another attempt wrote its receipt than was told that it is new.

    `told`: adds that attempt to the story. `change`: of it.
    """
    story, answers, found = good(), Answers(), Violations()
    told(story)
    story.attempts[-1] = replace(story.attempts[-1], **change)
    receipt = replace(story.receipts[pk_of(BOOKED)], correlation_id=story.attempts[-1].attempt_id)
    story.running(BOOKED)  # a bystander, who explains nothing
    for attempt in story.attempts:
        answers.hear(attempt)
    rules = Expected("local", Counter(), skew_ms=skew_ms).rules(APPOINTMENTS)
    one_key.check(answers.by_pk[pk_of(BOOKED)], receipt, found, rules)
    return list(found.counted)


@pytest.mark.parametrize(
    "told", [lambda story: story.running(BOOKED), lambda story: story.again(BOOKED)], ids=["409", "replay"]
)
def test_who_may_have_lost_its_lease_may_have_written_the_receipt(
    told: Callable[[WideStory], object],
) -> None:
    assert _said(told) == [Kind.WRONG_CONTENT]
    assert _said(told, **SLOW) == []
    assert _said(told, SKEW_MS) == []


@pytest.mark.parametrize("skew_ms", [0.0, SKEW_MS])
def test_nobody_else_can_have_written_it(skew_ms: float) -> None:
    def dropped(story: WideStory) -> None:
        story.running(BOOKED)
        story.attempts[-1] = replace(story.attempts[-1], status=None, dropped=True)

    assert _said(dropped, skew_ms) == []
    assert _said(dropped, skew_ms, body_hash="another body") == [Kind.WRONG_CONTENT]
    assert _said(dropped, skew_ms, outcome=Outcome.FAIL) == [Kind.WRONG_CONTENT]  # it was never sent
