"""What the checker lets pass, and that each promise, broken on purpose, is noticed with its key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from loadtest import ordering
from loadtest.bodies import derived_key
from loadtest.history import NOT_KEPT, Outcome
from loadtest.verdict import Kind
from tests.unit.storm import planted_wide
from tests.unit.storm.planted import K1, PLANTED
from tests.unit.storm.planted_orders import UNORDERED
from tests.unit.storm.planted_runs import ENVELOPES, own_fault
from tests.unit.storm.stories import Story, good, lead_hash

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_good_story_passes_with_everything_counted() -> None:
    verdict = good().verdict()
    assert verdict.passed
    assert verdict.violations == ()
    counts = verdict.counts
    assert (counts.requests, counts.reads) == (10, 4)
    assert (counts.keys, counts.tenant_keys) == (4, 5)
    assert (counts.writes, counts.records, counts.events) == (4, 4, 4)
    assert (counts.created, counts.replays, counts.conflicts, counts.unknown) == (3, 4, 1, 2)
    assert counts.never_accepted == 1
    assert verdict.writes_per_key == {1: 4, 0: 1}


@pytest.mark.parametrize("again", [1, 5])
def test_an_event_delivered_again_with_its_id_is_allowed(again: int) -> None:
    story = good()
    story.events += [story.events[0]] * again
    assert story.verdict().passed


def test_server_errors_are_counted_and_are_no_violation() -> None:
    story = good()
    story.answered("acme", "k1", "one", 503)
    story.answered("acme", "k4", "four", 504)
    verdict = story.verdict()
    assert verdict.passed
    assert verdict.counts.server_errors == 2


def test_a_5xx_may_have_been_the_accepting_attempt() -> None:
    story = good()
    story.attempts = [
        one for one in story.attempts if one.replayed or one.key != "k1" or one.tenant != "acme"
    ]
    assert story.broken() == {Kind.NO_FIRST_ANSWER: [K1], Kind.NOT_LINEARIZABLE: [K1]}
    story.answered("acme", "k1", "one", 503)
    assert story.verdict().passed
    # Not one that began long after the replay had come.
    story.attempts[-1] = replace(story.attempts[-1], start_ms=9e9, end_ms=9e9 + 1)
    assert story.broken() == {Kind.NO_FIRST_ANSWER: [K1], Kind.NOT_LINEARIZABLE: [K1]}


def test_on_a_deployed_stage_one_key_in_twenty_may_go_without_an_answer() -> None:
    story = good()
    story.stage = "dev"
    story.events = [replace(one, source=f"/onceward/dev/{one.queue_tenant}") for one in story.events]
    for number in range(100, 140):
        story.accept("acme", f"k{number}", "one", number)
    story.answered("acme", "k1-throttled", "one", 429)
    assert story.verdict().passed
    for _ in range(2):
        story.answered("acme", "k100", "one", 503)  # duplicates without a replay count, too
    assert story.broken() == {Kind.PROVES_NOTHING: [("", "")]}


def test_an_attempt_that_was_never_sent_explains_nothing() -> None:
    story = good()
    story.attempts = [
        one for one in story.attempts if one.replayed or one.key != "k1" or one.tenant != "acme"
    ]
    story.unseen("acme", "k1", "one", Outcome.FAIL)
    assert Kind.NO_FIRST_ANSWER in story.broken()


def test_without_audit_queues_nothing_is_said_about_events() -> None:
    story = good()
    story.events.clear()
    assert story.verdict(events=False).passed
    assert not story.verdict(events=False).events_checked
    assert not story.verdict().passed


@pytest.mark.parametrize(
    "change",
    [
        {"correlation_id": "the gateway's"},
        {"correlation_id": None},
        {"status": 503, "retry_after": "1"},
        {"status": 503, "retry_after": NOT_KEPT},
        {"status": 502},
    ],
    ids=str,
)
def test_a_5xx_of_an_outage_or_of_the_gateway_is_no_violation(change: dict[str, Any]) -> None:
    story = good()
    own_fault(story)
    story.attempts[-1] = replace(story.attempts[-1], **change)
    assert story.verdict().passed


def test_an_answer_too_large_to_keep_is_compared_with_the_first_one_only() -> None:
    story = good()
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], body=None)
    assert story.verdict().passed


@pytest.mark.parametrize(("spoil", "expected"), PLANTED, ids=[spoil.__name__ for spoil, _ in PLANTED])
def test_a_planted_violation_is_named_with_its_key(
    spoil: Callable[[Story], None], expected: dict[Kind, tuple[str, str]]
) -> None:
    story = good()
    spoil(story)
    broken = story.broken()
    assert set(broken) - {Kind.NOT_LINEARIZABLE} == set(expected) - {Kind.NOT_LINEARIZABLE}, broken
    assert (Kind.NOT_LINEARIZABLE in broken) is (spoil in UNORDERED), broken
    for kind, place in expected.items():
        assert place in broken[kind], f"{kind}: {broken}"


@pytest.mark.parametrize("change", ENVELOPES, ids=[str(*change) for change in ENVELOPES])
def test_an_event_must_fit_its_receipt_in_every_attribute(change: dict[str, Any]) -> None:
    story = good()
    story.events[0] = replace(story.events[0], **change)
    assert story.broken() == {Kind.WRONG_ENVELOPE: [K1]}


def test_a_request_without_a_key_is_judged_by_its_body() -> None:
    story = good()
    place = ("acme", derived_key(lead_hash("bare")))
    story.attempts.append(story.attempt("acme", None, "bare", 3))
    assert story.broken() == {Kind.SECOND_WRITE: [place], Kind.NOT_LINEARIZABLE: [place]}


def test_a_storm_that_nothing_came_of_is_no_proof() -> None:
    story = Story()
    story.answered("acme", "k1", "one", 503)
    assert story.broken() == {Kind.NOTHING_ACCEPTED: [("", "")]}


def test_every_key_is_checked_against_the_sequential_specification() -> None:
    ordered = good().verdict().ordered
    # Of ten attempts, each says something of one of the five keys.
    assert (ordered.keys, ordered.attempts, ordered.most_attempts, ordered.undecided) == (5, 10, 4, 0)


def test_an_order_that_was_not_searched_to_the_end_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "MOST_POSITIONS", 1)
    story = good()
    story.attempts.append(story.attempt("acme", "k1", "one", 1))
    verdict = story.verdict()
    assert not verdict.passed
    assert verdict.ordered.undecided == 2  # another one is k4: who was accepted there, nobody saw
    assert Kind.ORDER_UNDECIDED in story.broken()


def test_every_kind_of_violation_has_a_planted_one() -> None:
    planted = {kind for _, expected in [*PLANTED, *planted_wide.PLANTED] for kind in expected}
    elsewhere = {Kind.NO_FIRST_ANSWER, Kind.NOTHING_ACCEPTED, Kind.WRONG_ENVELOPE, Kind.ORDER_UNDECIDED}
    assert planted | elsewhere == set(Kind)


def test_violations_beyond_a_hundred_of_a_kind_are_counted_and_not_kept() -> None:
    story = good()
    for number in range(150):
        story.store("acme", f"lost-{number}", "one", (f"record-{number + 100}", f"event-{number + 100}"))
    verdict = story.verdict()
    assert verdict.by_kind[Kind.ORPHAN_RECEIPT.value] == 150
    assert sum(one.kind is Kind.ORPHAN_RECEIPT for one in verdict.violations) == 100
