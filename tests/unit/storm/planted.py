"""Violations to plant in a good story, each with the kinds and the key that the checker must name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loadtest.verdict import Kind
from tests.unit.storm.stories import Story, document, lead_hash

if TYPE_CHECKING:
    from collections.abc import Callable

K1 = ("acme", "k1")


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
