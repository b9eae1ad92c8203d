"""What the checker lets pass, and that each promise, broken on purpose, is noticed with its key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from loadtest.answers import derived_key
from loadtest.history import Outcome
from loadtest.verdict import Kind
from tests.unit.storm.stories import Story, document, good, lead_hash

if TYPE_CHECKING:
    from collections.abc import Callable

K1 = ("acme", "k1")


def test_a_good_story_passes_with_everything_counted() -> None:
    verdict = good().verdict()
    assert verdict.passed
    assert verdict.violations == ()
    counts = verdict.counts
    assert (counts.requests, counts.reads) == (10, 2)
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
    story.answered("acme", "k9", "nine", 504)
    verdict = story.verdict()
    assert verdict.passed
    assert verdict.counts.server_errors == 2


def test_a_5xx_may_have_been_the_accepting_attempt() -> None:
    story = good()
    story.attempts = [
        one for one in story.attempts if one.replayed or one.key != "k1" or one.tenant != "acme"
    ]
    assert story.broken() == {Kind.NO_FIRST_ANSWER: [K1]}
    story.answered("acme", "k1", "one", 503)
    assert story.verdict().passed


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


def test_an_answer_too_large_to_keep_is_compared_with_the_first_one_only() -> None:
    story = good()
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], body=None)
    assert story.verdict().passed


# -- planted violations ----------------------------------------------------------------------------------


def double_write(story: Story) -> None:
    """The same key is accepted twice: two new answers, two records, two events."""
    story.attempts.append(story.attempt("acme", "k1", "one", 7))
    story.record("acme", "one", ("record-7", "event-7"))
    story.publish("acme", "one", ("record-7", "event-7"))


def second_answer(story: Story) -> None:
    story.attempts.append(story.attempt("acme", "k1", "one", 1))


def lost_write(story: Story) -> None:
    del story.receipts["acme#k1"], story.records["acme#record-1"]
    story.events = [one for one in story.events if one.event_id != "event-1"]


def refused_by_nothing(story: Story) -> None:
    story.answered("acme", "k8", "eight", 422)


def lost_record(story: Story) -> None:
    del story.records["acme#record-1"]


def lost_event(story: Story) -> None:
    story.events = [one for one in story.events if one.event_id != "event-1"]


def half_an_unknown(story: Story) -> None:
    """Nobody saw an answer, but a receipt is there: record and event must be, too."""
    story.store("beta", "k5", "five", ("record-9", "event-9"))


def second_event(story: Story) -> None:
    story.publish("acme", "one", ("record-1", "event-8"))


def second_record(story: Story) -> None:
    story.record("acme", "one", ("record-8", "event-1"))


def record_of_another_event(story: Story) -> None:
    story.records["acme#record-1"] = replace(story.records["acme#record-1"], event_id="event-8")


def orphan_record(story: Story) -> None:
    story.record("beta", "five", ("record-9", "event-9"))


def orphan_event(story: Story) -> None:
    story.publish("beta", "five", ("record-9", "event-9"))


def orphan_receipt(story: Story) -> None:
    story.store("acme", "k-nobody", "one", ("record-9", "event-9"))
    story.record("acme", "one", ("record-9", "event-9"))
    story.publish("acme", "one", ("record-9", "event-9"))


def unfinished(story: Story) -> None:
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], completed=False)


def replay_byte(story: Story) -> None:
    _spoil_replay(story, response_hash="0" * 64)


def replay_status(story: Story) -> None:
    _spoil_replay(story, status=200)


def replay_location(story: Story) -> None:
    _spoil_replay(story, headers=(("content-type", "application/json"), ("location", "/v1/leads/other")))


def replay_lost_header(story: Story) -> None:
    _spoil_replay(story, headers=(("content-type", "application/json"),))


def replay_of_unseen_first(story: Story) -> None:
    """The first answer was never seen, and two replays differ: one of them is wrong."""
    story.receipts["acme#k4"] = replace(story.receipts["acme#k4"], body=None)
    story.attempts.append(replace(story.replay("acme", "k4", "four", 4), response_hash="1" * 64))


def stored_answer(story: Story) -> None:
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], body='{"id":"record-1"}')


def stored_other_lead(story: Story) -> None:
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], lead_hash=lead_hash("never sent"))


def record_with_other_content(story: Story) -> None:
    changed = replace(story.records["acme#record-1"], document=document("changed", "record-1"))
    story.records["acme#record-1"] = changed


def event_with_other_content(story: Story) -> None:
    story.events[0] = replace(story.events[0], data_hash="2" * 64)


def event_of_another_record(story: Story) -> None:
    story.events[0] = replace(story.events[0], subject="record-2")


def event_id_attribute(story: Story) -> None:
    story.events[0] = replace(story.events[0], event_attribute="event-2")


def accepted_mismatch(story: Story) -> None:
    story.replay("acme", "k1", "another", 1)


def false_mismatch(story: Story) -> None:
    story.answered("acme", "k1", "one", 422)


def foreign_record(story: Story) -> None:
    """acme's record is written under beta."""
    moved = replace(story.records.pop("acme#record-1"), pk="beta#record-1", tenant_id="beta")
    story.records["beta#record-1"] = moved


def foreign_record_attribute(story: Story) -> None:
    story.records["acme#record-1"] = replace(story.records["acme#record-1"], tenant_id="beta")


def foreign_event(story: Story) -> None:
    """acme's event goes to beta's topic."""
    story.events[0] = replace(story.events[0], queue_tenant="beta")


def foreign_event_attribute(story: Story) -> None:
    story.events[0] = replace(story.events[0], tenant_attribute="beta")


def foreign_event_source(story: Story) -> None:
    story.events[0] = replace(story.events[0], source="/onceward/local/beta")


def foreign_receipt(story: Story) -> None:
    """A key that only acme sent has a receipt under beta."""
    story.store("beta", "k4", "four", ("record-9", "event-9"))


def foreign_receipt_attribute(story: Story) -> None:
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], tenant_id="beta")


def foreign_answer(story: Story) -> None:
    """beta is answered with acme's lead."""
    story.attempts.append(story.attempt("beta", "k1", "one", 1, replayed=True))


def foreign_content(story: Story) -> None:
    """Something that only acme sent is stored under beta, and no receipt says why."""
    story.record("beta", "bare", ("record-9", "event-9"))


def foreign_read(story: Story) -> None:
    story.read("beta", 1, 200, document("one", "record-1"))


def forbidden_instead_of_not_found(story: Story) -> None:
    """A 403 for another tenant's id tells that there is such a thing."""
    story.read("beta", 1, 403, None)


def own_lead_unread(story: Story) -> None:
    story.read("acme", 1, 404, None)


def own_lead_read_with_other_bytes(story: Story) -> None:
    story.read("acme", 1, 200, document("one", "record-1").replace(": ", ":"))


def shared_id(story: Story) -> None:
    story.attempts.append(story.attempt("acme", "k6", "six", 1, replayed=True))
    story.store("acme", "k6", "six", ("record-1", "event-1"))


def no_id(story: Story) -> None:
    _spoil_replay(story, response_body="{}")


def wrong_correlation(story: Story) -> None:
    _spoil_replay(story, correlation_id="attempt-of-somebody-else")


def unexpected_status(story: Story) -> None:
    story.answered("acme", "k1", "one", 403)


def first_answer_without_created(story: Story) -> None:
    story.attempts[0] = replace(story.attempts[0], status=200)


def _spoil_replay(story: Story, **changes: object) -> None:
    at = next(number for number, one in enumerate(story.attempts) if one.replayed)
    story.attempts[at] = replace(story.attempts[at], **changes)  # type: ignore[arg-type]


PLANTED: list[tuple[Callable[[Story], None], dict[Kind, tuple[str, str]]]] = [
    (double_write, {Kind.SECOND_WRITE: K1, Kind.SECOND_RECORD: K1, Kind.SECOND_EVENT: K1}),
    (second_answer, {Kind.SECOND_WRITE: K1}),
    (lost_write, {Kind.LOST_WRITE: K1}),
    (refused_by_nothing, {Kind.LOST_WRITE: ("acme", "k8")}),
    (lost_record, {Kind.LOST_RECORD: K1}),
    (lost_event, {Kind.LOST_EVENT: K1}),
    (half_an_unknown, {Kind.LOST_RECORD: ("beta", "k5"), Kind.LOST_EVENT: ("beta", "k5")}),
    (second_event, {Kind.SECOND_EVENT: K1}),
    (second_record, {Kind.SECOND_RECORD: K1}),
    (record_of_another_event, {Kind.SECOND_EVENT: K1}),
    (orphan_record, {Kind.ORPHAN_RECORD: ("beta", "k5")}),
    (orphan_event, {Kind.ORPHAN_EVENT: ("beta", "k5")}),
    (orphan_receipt, {Kind.ORPHAN_RECEIPT: ("acme", "k-nobody")}),
    (unfinished, {Kind.UNFINISHED_RECEIPT: K1}),
    (replay_byte, {Kind.REPLAY_BODY: K1}),
    (replay_status, {Kind.REPLAY_STATUS: K1}),
    (replay_location, {Kind.REPLAY_HEADERS: K1}),
    (replay_lost_header, {Kind.REPLAY_HEADERS: K1}),
    (replay_of_unseen_first, {Kind.REPLAY_BODY: ("acme", "k4")}),
    (stored_answer, {Kind.STORED_ANSWER: K1}),
    (stored_other_lead, {Kind.WRONG_CONTENT: K1}),
    (record_with_other_content, {Kind.WRONG_CONTENT: K1}),
    (event_with_other_content, {Kind.WRONG_CONTENT: K1}),
    (event_of_another_record, {Kind.WRONG_CONTENT: K1}),
    (event_id_attribute, {Kind.WRONG_CONTENT: K1}),
    (accepted_mismatch, {Kind.ACCEPTED_MISMATCH: K1}),
    (false_mismatch, {Kind.FALSE_MISMATCH: K1}),
    (foreign_record, {Kind.CROSS_TENANT: K1, Kind.LOST_RECORD: K1}),
    (foreign_record_attribute, {Kind.CROSS_TENANT: K1}),
    (foreign_event, {Kind.CROSS_TENANT: K1, Kind.LOST_EVENT: K1}),
    (foreign_event_attribute, {Kind.CROSS_TENANT: K1}),
    (foreign_event_source, {Kind.CROSS_TENANT: K1}),
    (foreign_receipt, {Kind.CROSS_TENANT: ("beta", "k4")}),
    (foreign_receipt_attribute, {Kind.CROSS_TENANT: K1}),
    (foreign_answer, {Kind.CROSS_TENANT: ("beta", "k1")}),
    (foreign_content, {Kind.CROSS_TENANT: ("beta", "")}),
    (foreign_read, {Kind.CROSS_TENANT: K1}),
    (forbidden_instead_of_not_found, {Kind.CROSS_TENANT: K1}),
    (own_lead_unread, {Kind.LOST_RECORD: K1}),
    (own_lead_read_with_other_bytes, {Kind.WRONG_CONTENT: K1}),
    (shared_id, {Kind.SHARED_ID: ("acme", "k6")}),
    (no_id, {Kind.UNREADABLE_ANSWER: K1}),
    (wrong_correlation, {Kind.MISADDRESSED: K1}),
    (unexpected_status, {Kind.UNEXPECTED_ANSWER: K1}),
    (first_answer_without_created, {Kind.UNEXPECTED_ANSWER: K1}),
]


@pytest.mark.parametrize(("spoil", "expected"), PLANTED, ids=[spoil.__name__ for spoil, _ in PLANTED])
def test_a_planted_violation_is_named_with_its_key(
    spoil: Callable[[Story], None], expected: dict[Kind, tuple[str, str]]
) -> None:
    story = good()
    spoil(story)
    broken = story.broken()
    for kind, place in expected.items():
        assert place in broken.get(kind, []), f"{kind}: {broken}"


def test_a_request_without_a_key_is_judged_by_its_body() -> None:
    story = good()
    place = ("acme", derived_key(lead_hash("bare")))
    story.attempts.append(story.attempt("acme", None, "bare", 3))
    assert story.broken() == {Kind.SECOND_WRITE: [place]}


def test_an_incomplete_history_is_no_proof() -> None:
    story = good()
    story.planned = 11
    assert story.broken() == {Kind.INCOMPLETE_RUN: [("", "")]}


def test_a_storm_that_nothing_came_of_is_no_proof() -> None:
    story = Story()
    story.answered("acme", "k1", "one", 503)
    assert story.broken() == {Kind.NOTHING_ACCEPTED: [("", "")]}


def test_every_kind_of_violation_has_a_planted_one() -> None:
    planted = {kind for _, expected in PLANTED for kind in expected}
    elsewhere = {Kind.NO_FIRST_ANSWER, Kind.INCOMPLETE_RUN, Kind.NOTHING_ACCEPTED}
    assert planted | elsewhere == set(Kind)


def test_violations_beyond_a_hundred_of_a_kind_are_counted_and_not_kept() -> None:
    story = good()
    for number in range(150):
        story.store("acme", f"lost-{number}", "one", (f"record-{number + 100}", f"event-{number + 100}"))
    verdict = story.verdict()
    assert verdict.by_kind[Kind.ORPHAN_RECEIPT.value] == 150
    assert sum(one.kind is Kind.ORPHAN_RECEIPT for one in verdict.violations) == 100
