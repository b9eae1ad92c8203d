"""To plant in a run of all operations, each with the kinds and the key that the checker must name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loadtest import bodies
from loadtest.operations import APPOINTMENTS, PAYMENTS, WEBHOOKS
from loadtest.stored import document_hash
from loadtest.verdict import Kind
from tests.unit.storm import contract
from tests.unit.storm import planted_charges as charges
from tests.unit.storm.wide_stories import (
    BOOKED,
    MARK,
    ORDERED,
    PAID,
    RIVAL,
    SENT,
    SENT_ELSEWHERE,
    WideStory,
    pk_of,
    place,
    request,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadtest.schedule import PlannedRequest


def upsert_lost(story: WideStory) -> None:
    story.entities = [one for one in story.entities if one.document_id != _record(story, SENT)]


def order_lost_at_the_crm(story: WideStory) -> None:
    story.entities = [one for one in story.entities if one.document_id != _record(story, ORDERED)]


def entity_twice(story: WideStory) -> None:
    """A redelivery made a second entity, beside the one that it should have been."""
    story.upsert("crm.acme.example/events/second", story.receipts[pk_of(SENT)].document or "")


def entity_at_another_tenants(story: WideStory) -> None:
    """acme's event is written into beta's CRM."""
    at = next(n for n, one in enumerate(story.entities) if one.document_id == _record(story, SENT))
    misplaced = story.entities[at].place.replace("acme", "beta")
    story.entities[at] = replace(story.entities[at], place=misplaced)


def entity_of_nobody(story: WideStory) -> None:
    story.upsert(
        "crm.acme.example/events/x", contract.document(WEBHOOKS, "record-99", bodies.body(MARK, SENT))
    )


def entity_with_other_content(story: WideStory) -> None:
    at = next(n for n, one in enumerate(story.entities) if one.document_id == _record(story, SENT))
    story.entities[at] = replace(story.entities[at], document_hash="3" * 64)


def slot_booked_twice(story: WideStory) -> None:
    """Two patients are told 201 for one slot."""
    rival = request(APPOINTMENTS, "acme", 9, slot=3)
    story.take(rival, 90)


def free_slot_called_taken(story: WideStory) -> None:
    story.turn_down(request(APPOINTMENTS, "acme", 12), 409)


def order_never_completed(story: WideStory) -> None:
    _status(story, ORDERED, "PROCESSING")


def order_never_published(story: WideStory) -> None:
    """Its worker marked it, and the bus lost it."""
    event_id = story.receipts[pk_of(ORDERED)].event_id
    story.events = [one for one in story.events if one.event_id != event_id]


def event_of_an_order_that_is_not_done(story: WideStory) -> None:
    """Its event tells of the order as it was accepted, before its work was done."""
    receipt = story.receipts[pk_of(ORDERED)]
    at = next(n for n, one in enumerate(story.events) if one.event_id == receipt.event_id)
    story.events[at] = replace(story.events[at], data_hash=document_hash(receipt.document))


def webhook_never_delivered(story: WideStory) -> None:
    _status(story, SENT, "RECEIVED")


def webhook_replayed_as_new(story: WideStory) -> None:
    """A duplicate is told that it is new."""
    story.told(SENT, story.answers_of[pk_of(SENT)])


def webhook_replayed_with_its_first_words(story: WideStory) -> None:
    _, headers, body = story.answers_of[pk_of(SENT)]
    story.told(SENT, (200, headers, body))


def webhook_replayed_without_its_location(story: WideStory) -> None:
    story.told(SENT, (200, {"Content-Type": "application/json"}, b'{"accepted":true,"duplicate":true}'))


def webhook_refused_for_its_body(story: WideStory) -> None:
    """A redelivery with another body is a duplicate, and no 422."""
    story.told(replace(SENT, variant=2), (422, contract.PROBLEM, b"{}"))


def two_sources_as_one(story: WideStory) -> None:
    """The event of the second source is taken for the first one's: its receipt and all else is missing."""
    pk, record_id = pk_of(SENT_ELSEWHERE), _record(story, SENT_ELSEWHERE)
    receipt = story.receipts.pop(pk)
    del story.records[f"acme#{record_id}"]
    story.events = [one for one in story.events if one.event_id != receipt.event_id]
    story.entities = [one for one in story.entities if one.document_id != record_id]
    story.attempts = [
        one
        for one in story.attempts
        if one.body_hash != record_id and f"{one.tenant}#{one.derived_key}" != pk
    ]
    story.told(SENT_ELSEWHERE, contract.again(WEBHOOKS, story.answers_of[pk_of(SENT)]))


def still_running_after_its_answer(story: WideStory) -> None:
    story.running(PAID, start_ms=9_000.0)


def never_more_than_running(story: WideStory) -> None:
    """A claim that vanished: nobody was told how it ended, and there is no receipt to tell it."""
    for _ in range(3):
        story.running(request(PAYMENTS, "acme", 11))


def stuck(story: WideStory) -> None:
    """A claim that is never finished, and never taken over."""
    one = request(PAYMENTS, "acme", 11)
    story.running(one)
    story.keep(one, (0, {}, b""), "attempt-unknown", None)
    story.receipts[pk_of(one)] = replace(story.receipts[pk_of(one)], completed=False, status=None, body=None)


def order_still_running(story: WideStory) -> None:
    """A 409 in progress is for execute mode alone."""
    story.running(ORDERED)


def written_under_another_tenant(story: WideStory) -> None:
    """acme's payment is stored under beta."""
    record_id = _record(story, PAID)
    moved = replace(story.records.pop(f"acme#{record_id}"), pk=f"beta#{record_id}", tenant_id="beta")
    story.records[moved.pk] = moved


def record_of_another_operation(story: WideStory) -> None:
    pk = f"acme#{_record(story, PAID)}"
    story.records[pk] = replace(story.records[pk], operation="orders")


def first_answer_with_another_status(story: WideStory) -> None:
    """An order is answered 201, and its receipt says so too."""
    pk = pk_of(ORDERED)
    story.receipts[pk] = replace(story.receipts[pk], status=201)
    story.attempts = [
        replace(one, status=201) if (one.tenant, one.key, one.status) == ("acme", ORDERED.key, 202) else one
        for one in story.attempts
    ]


def read_without_its_status(story: WideStory) -> None:
    record_id = _record(story, ORDERED)
    story.attempts = [
        replace(one, response_body=story.receipts[pk_of(ORDERED)].document)
        if (one.body_hash, one.status) == (record_id, 200)
        else one
        for one in story.attempts
    ]


def _record(story: WideStory, one: PlannedRequest) -> str:
    return story.receipts[pk_of(one)].record_id or ""


def _status(story: WideStory, one: PlannedRequest, status: str) -> None:
    pk = f"{one.tenant}#{_record(story, one)}"
    story.records[pk] = replace(story.records[pk], status=status)


STUCK = ("acme", f"{MARK}11")
PLANTED: list[tuple[Callable[[WideStory], None], dict[Kind, tuple[str, str]]]] = [
    *charges.PLANTED,
    (upsert_lost, {Kind.LOST_ENTITY: place(SENT)}),
    (order_lost_at_the_crm, {Kind.LOST_ENTITY: place(ORDERED)}),
    (entity_twice, {Kind.SECOND_ENTITY: place(SENT), Kind.MISPLACED: place(SENT)}),
    (entity_at_another_tenants, {Kind.MISPLACED: place(SENT)}),
    (entity_of_nobody, {Kind.ORPHAN_ENTITY: ("", "")}),
    (entity_with_other_content, {Kind.WRONG_CONTENT: place(SENT)}),
    (
        slot_booked_twice,
        {Kind.SLOT_BOOKED_TWICE: ("acme", place(request(APPOINTMENTS, "acme", 9, slot=3))[1])},
    ),
    (free_slot_called_taken, {Kind.WRONG_DECISION: place(request(APPOINTMENTS, "acme", 12))}),
    (order_never_completed, {Kind.UNFINISHED_WORK: place(ORDERED)}),
    (order_never_published, {Kind.LOST_EVENT: place(ORDERED)}),
    (event_of_an_order_that_is_not_done, {Kind.WRONG_CONTENT: place(ORDERED)}),
    (webhook_never_delivered, {Kind.UNFINISHED_WORK: place(SENT)}),
    (webhook_replayed_as_new, {Kind.SECOND_WRITE: place(SENT)}),
    (webhook_replayed_with_its_first_words, {Kind.REPLAY_BODY: place(SENT)}),
    (
        webhook_replayed_without_its_location,
        {Kind.UNREADABLE_ANSWER: place(SENT), Kind.REPLAY_HEADERS: place(SENT)},
    ),
    (webhook_refused_for_its_body, {Kind.UNEXPECTED_ANSWER: place(SENT)}),
    (
        two_sources_as_one,
        {
            Kind.LOST_WRITE: place(SENT_ELSEWHERE),
            Kind.NO_FIRST_ANSWER: place(SENT_ELSEWHERE),
            Kind.SHARED_ID: place(SENT_ELSEWHERE),
        },
    ),
    (still_running_after_its_answer, {Kind.LATE_IN_PROGRESS: place(PAID)}),
    (never_more_than_running, {Kind.LOST_WRITE: STUCK}),
    (stuck, {Kind.UNFINISHED_RECEIPT: STUCK}),
    (order_still_running, {Kind.UNEXPECTED_ANSWER: place(ORDERED)}),
    (written_under_another_tenant, {Kind.CROSS_TENANT: place(PAID), Kind.LOST_RECORD: place(PAID)}),
    (record_of_another_operation, {Kind.WRONG_CONTENT: place(PAID)}),
    (first_answer_with_another_status, {Kind.UNEXPECTED_ANSWER: place(ORDERED)}),
    (read_without_its_status, {Kind.WRONG_CONTENT: place(ORDERED)}),
]
# Those that what clients heard of one key alone gives away: no order of its attempts explains them.
UNORDERED = frozenset(
    {
        charges.refusal_replayed_as_another,
        webhook_replayed_as_new,
        webhook_replayed_without_its_location,
        webhook_refused_for_its_body,
        two_sources_as_one,
        still_running_after_its_answer,
        never_more_than_running,
        stuck,
        order_still_running,
    }
)
# What the rival is told is the truth, or the other stories would prove nothing.
assert RIVAL.slot == BOOKED.subject
