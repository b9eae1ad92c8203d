"""Violations to plant in a good story, each with the kinds and the key that the checker must name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loadtest.stored import document_hash
from loadtest.verdict import Kind
from tests.unit.storm import planted_runs as runs
from tests.unit.storm import planted_tenants as tenants
from tests.unit.storm.stories import Story, document, lead_hash

if TYPE_CHECKING:
    from collections.abc import Callable


K1, K6 = ("acme", "k1"), ("acme", "k6")
RUN = ("", "")


def double_write(story: Story) -> None:
    """The same key is accepted twice: two new answers, two records, two events."""
    story.attempts.append(story.attempt("acme", "k1", "one", 7))
    story.record("acme", "one", ("record-7", "event-7"))
    story.publish("acme", "one", ("record-7", "event-7"))


def second_answer(story: Story) -> None:
    story.attempts.append(story.attempt("acme", "k1", "one", 1))


def answered_with_another_id(story: Story) -> None:
    """The client is told record-1; receipt, record and event are all of record-77."""
    ids = ("record-77", "event-77")
    story.writers["record-77"] = story.writers["record-1"]
    answer = story.receipts["acme#k1"]
    lost_write(story)
    story.store("acme", "k1", "one", ids)
    told = replace(story.receipts["acme#k1"], body=answer.body, headers=answer.headers)
    story.receipts["acme#k1"] = told
    story.record("acme", "one", ids)
    story.publish("acme", "one", ids)
    own_reads = [one for one in story.attempts if one.body_hash == "record-1"]
    story.attempts = [one for one in story.attempts if one not in own_reads]
    story.read("acme", 77, 200, document("one", "record-77"))
    story.read("beta", 77, 404, None)


def several_ids_for_one_key(story: Story) -> None:
    """Its duplicates are answered with a second id, each saying that it is a replay."""
    story.replay("acme", "k1", "one", 7)


def location_of_another_lead(story: Story) -> None:
    """First answer and replays agree with the receipt, on a Location that is not the lead's."""
    headers = (("content-type", "application/json"), ("location", "/v1/leads/record-7"))
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], headers=headers)
    story.attempts = [
        replace(one, headers=headers) if (one.tenant, one.key, one.status) == ("acme", "k1", 201) else one
        for one in story.attempts
    ]


def document_of_another_id(story: Story) -> None:
    """Receipt, record and event agree on a document whose id is not the record's."""
    wrong = document("one", "record-7")
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], document=wrong, document_id="record-7")
    story.records["acme#record-1"] = replace(story.records["acme#record-1"], document=wrong)
    story.events[0] = replace(story.events[0], data_hash=document_hash(wrong))
    story.attempts = [
        replace(one, response_body=wrong) if one.response_body == document("one", "record-1") else one
        for one in story.attempts
    ]


def written_by_another_attempt(story: Story) -> None:
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], correlation_id="attempt-99")
    story.events[0] = replace(story.events[0], correlation_id="attempt-99")


def lost_write(story: Story) -> None:
    del story.receipts["acme#k1"], story.records["acme#record-1"]
    story.events = [one for one in story.events if one.event_id != "event-1"]


def unfinished_and_unseen(story: Story) -> None:
    """Nobody was answered, but a receipt is left, and is not completed."""
    half_an_unknown(story)
    story.record("beta", "five", ("record-9", "event-9"))
    story.publish("beta", "five", ("record-9", "event-9"))
    story.receipts["beta#k5"] = replace(story.receipts["beta#k5"], completed=False)


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
    story.replay("acme", "k4", "four", 4)
    story.attempts[-1] = replace(story.attempts[-1], response_hash="1" * 64)


def stored_answer(story: Story) -> None:
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], body='{"id":"record-1"}')


def stored_other_lead(story: Story) -> None:
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], body_hash=lead_hash("never sent"))


def record_with_other_content(story: Story) -> None:
    changed = replace(story.records["acme#record-1"], document=document("changed", "record-1"))
    story.records["acme#record-1"] = changed


def event_with_other_content(story: Story) -> None:
    story.events[0] = replace(story.events[0], data_hash="2" * 64)


def accepted_mismatch(story: Story) -> None:
    story.replay("acme", "k1", "another", 1)


def false_mismatch(story: Story) -> None:
    story.answered("acme", "k1", "one", 422)


def no_id(story: Story) -> None:
    _spoil_replay(story, response_body="{}")


def wrong_correlation(story: Story) -> None:
    _spoil_replay(story, correlation_id="attempt-of-somebody-else")


def unexpected_status(story: Story) -> None:
    story.answered("acme", "k1", "one", 403)


def first_answer_without_created(story: Story) -> None:
    """Receipt and replays agree on a 200."""
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], status=200)
    story.attempts = [
        replace(one, status=200) if (one.tenant, one.key, one.status) == ("acme", "k1", 201) else one
        for one in story.attempts
    ]


def _spoil_replay(story: Story, **changes: object) -> None:
    at = next(number for number, one in enumerate(story.attempts) if one.replayed)
    story.attempts[at] = replace(story.attempts[at], **changes)  # type: ignore[arg-type]


# A replay with the answer of another lead differs in its id, and so in its bytes and its Location.
OTHER_REPLAY = {Kind.REPLAY_BODY: K1, Kind.REPLAY_HEADERS: K1}
FOREIGN_ANSWER = (Kind.CROSS_TENANT, Kind.ANSWERED_ID, Kind.SECOND_WRITE, *OTHER_REPLAY)

PLANTED: list[tuple[Callable[[Story], None], dict[Kind, tuple[str, str]]]] = [
    (
        double_write,
        {Kind.SECOND_WRITE: K1, Kind.ANSWERED_ID: K1, Kind.SECOND_RECORD: K1, Kind.SECOND_EVENT: K1},
    ),
    (second_answer, {Kind.SECOND_WRITE: K1}),
    (answered_with_another_id, {Kind.ANSWERED_ID: K1, Kind.SECOND_WRITE: K1}),
    (several_ids_for_one_key, {Kind.SECOND_WRITE: K1, Kind.ANSWERED_ID: K1, **OTHER_REPLAY}),
    (location_of_another_lead, {Kind.ANSWERED_ID: K1}),
    (document_of_another_id, {Kind.WRONG_CONTENT: K1}),
    (written_by_another_attempt, {Kind.WRONG_CONTENT: K1}),
    (runs.never_accepted, {Kind.NEVER_ACCEPTED: ("beta", "k9")}),
    (runs.never_replayed, {Kind.NO_REPLAY: ("acme", "k9")}),
    (runs.still_running, {Kind.UNEXPECTED_ANSWER: K1}),
    (runs.own_fault, {Kind.UNEXPECTED_ANSWER: K1}),
    (runs.outage_without_an_end, {Kind.UNEXPECTED_ANSWER: K1}),
    (runs.two_keys_without_a_sign, {Kind.PROVES_NOTHING: RUN}),
    (unfinished_and_unseen, {Kind.UNFINISHED_RECEIPT: ("beta", "k5")}),
    (tenants.shared_event_id, dict.fromkeys((Kind.SHARED_ID, Kind.WRONG_ENVELOPE, Kind.WRONG_CONTENT), K6)),
    (tenants.refusal_that_tells, {Kind.CROSS_TENANT: ("beta", "k1")}),
    (runs.reads_unanswered, {Kind.READS_INCOMPLETE: ("acme", "")}),
    (runs.reads_throttled, {Kind.READS_INCOMPLETE: ("acme", "")}),
    (runs.no_reads, {Kind.READS_INCOMPLETE: ("acme", "")}),
    (runs.no_read_of_its_own, {Kind.READS_INCOMPLETE: ("acme", "")}),
    (runs.only_reads_of_its_own, {Kind.READS_INCOMPLETE: ("acme", "")}),
    (runs.one_attempt_missing, {Kind.INCOMPLETE_RUN: RUN}),
    (runs.another_attempt_instead, {Kind.INCOMPLETE_RUN: RUN}),
    (runs.one_attempt_twice, {Kind.INCOMPLETE_RUN: RUN}),
    (lost_write, {Kind.LOST_WRITE: K1, Kind.READS_INCOMPLETE: ("acme", "")}),
    (refused_by_nothing, {Kind.LOST_WRITE: ("acme", "k8"), Kind.NEVER_ACCEPTED: ("acme", "k8")}),
    (lost_record, {Kind.LOST_RECORD: K1}),
    (lost_event, {Kind.LOST_EVENT: K1}),
    (half_an_unknown, {Kind.LOST_RECORD: ("beta", "k5"), Kind.LOST_EVENT: ("beta", "k5")}),
    (second_event, {Kind.SECOND_EVENT: K1}),
    (second_record, {Kind.SECOND_RECORD: K1, Kind.SECOND_WRITE: K1}),
    (record_of_another_event, {Kind.SECOND_EVENT: K1}),
    (orphan_record, {Kind.ORPHAN_RECORD: ("beta", "k5")}),
    (orphan_event, {Kind.ORPHAN_EVENT: ("beta", "k5")}),
    (orphan_receipt, {Kind.ORPHAN_RECEIPT: ("acme", "k-nobody")}),
    (unfinished, {Kind.UNFINISHED_RECEIPT: K1}),
    (replay_byte, {Kind.REPLAY_BODY: K1}),
    (replay_status, {Kind.REPLAY_STATUS: K1, Kind.UNEXPECTED_ANSWER: K1}),
    (replay_location, {Kind.REPLAY_HEADERS: K1, Kind.ANSWERED_ID: K1}),
    (replay_lost_header, {Kind.REPLAY_HEADERS: K1, Kind.ANSWERED_ID: K1}),
    (replay_of_unseen_first, {Kind.REPLAY_BODY: ("acme", "k4")}),
    (stored_answer, {Kind.STORED_ANSWER: K1}),
    (stored_other_lead, {Kind.WRONG_CONTENT: K1, Kind.ACCEPTED_MISMATCH: K1}),
    (record_with_other_content, {Kind.WRONG_CONTENT: K1}),
    (event_with_other_content, {Kind.WRONG_CONTENT: K1}),
    (accepted_mismatch, {Kind.ACCEPTED_MISMATCH: K1}),
    (false_mismatch, {Kind.FALSE_MISMATCH: K1}),
    (tenants.foreign_record, {Kind.CROSS_TENANT: K1, Kind.LOST_RECORD: K1}),
    (tenants.foreign_record_attribute, {Kind.CROSS_TENANT: K1}),
    (tenants.foreign_event, {Kind.CROSS_TENANT: K1, Kind.LOST_EVENT: K1}),
    (tenants.foreign_event_attribute, {Kind.CROSS_TENANT: K1}),
    (tenants.foreign_event_source, {Kind.CROSS_TENANT: K1}),
    (tenants.foreign_receipt, {Kind.CROSS_TENANT: ("beta", "k4")}),
    (tenants.foreign_receipt_attribute, {Kind.CROSS_TENANT: K1}),
    (tenants.foreign_answer, dict.fromkeys(FOREIGN_ANSWER, ("beta", "k1"))),
    (tenants.foreign_content, {Kind.CROSS_TENANT: ("beta", "")}),
    (runs.foreign_read, {Kind.CROSS_TENANT: K1}),
    (runs.forbidden_instead_of_not_found, {Kind.CROSS_TENANT: K1}),
    (runs.own_lead_unread, {Kind.LOST_RECORD: K1}),
    (runs.own_lead_read_with_other_bytes, {Kind.WRONG_CONTENT: K1}),
    (tenants.shared_id, {Kind.SHARED_ID: K6}),
    (no_id, {Kind.UNREADABLE_ANSWER: K1}),
    (runs.replayed_before_it_was_sent, {Kind.NOT_LINEARIZABLE: K1}),
    (runs.refused_before_another_body_was_sent, {Kind.NOT_LINEARIZABLE: K1}),
    (wrong_correlation, {Kind.MISADDRESSED: K1}),
    (unexpected_status, {Kind.UNEXPECTED_ANSWER: K1}),
    (first_answer_without_created, {Kind.UNEXPECTED_ANSWER: K1}),
]
