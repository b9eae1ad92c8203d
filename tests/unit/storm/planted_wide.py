"""To plant in a run of all operations, each with the kinds and the key that the checker must name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loadtest import bodies
from loadtest.operations import APPOINTMENTS, PAYMENTS, WEBHOOKS
from loadtest.verdict import Kind
from tests.unit.storm import contract
from tests.unit.storm.wide_stories import (
    BOOKED,
    MARK,
    ORDERED,
    PAID,
    RIVAL,
    SENT,
    SENT_ELSEWHERE,
    UNPAID,
    WideStory,
    pk_of,
    place,
    request,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadtest.schedule import PlannedRequest


def charged_twice(story: WideStory) -> None:
    """Two attempts of one payment charged under keys of their own; the answer names one of the charges."""
    story.charge(PAID, "ch_second", "down-of-the-second-attempt")


def charged_twice_under_one_key(story: WideStory) -> None:
    """The provider forgot the key, and the charge was sent again."""
    story.charge(PAID, "ch_second", story.charges[0].downstream_key)


def charged_without_an_answer(story: WideStory) -> None:
    """Money was taken, and the claim was lost: no receipt, no answer."""
    lost = request(PAYMENTS, "acme", 7)
    story.told(lost, (503, contract.PROBLEM, b"{}"))
    story.take(replace(lost, tenant="beta"), 77)
    story.charge(lost, "ch_lost", "down-lost")


def charged_after_a_refusal(story: WideStory) -> None:
    story.charge(UNPAID, "ch_declined", "down-declined")


def never_charged(story: WideStory) -> None:
    del story.charges[0]


def charged_another_amount(story: WideStory) -> None:
    story.charges[0] = replace(story.charges[0], amount=story.charges[0].amount + 1)


def charged_in_another_currency(story: WideStory) -> None:
    story.charges[0] = replace(story.charges[0], currency="USD")


def charge_of_nobody(story: WideStory) -> None:
    story.charges.append(
        replace(story.charges[0], charge_id="ch_x", downstream_key="x", reference=f"{MARK}99")
    )


def bad_card_charged(story: WideStory) -> None:
    bad = request(PAYMENTS, "acme", 10)
    story.take(bad, 70)


def good_card_declined(story: WideStory) -> None:
    story.turn_down(request(PAYMENTS, "acme", 8), 402)


def refused_and_recorded(story: WideStory) -> None:
    """A declined payment leaves an outbox, and a record and an event follow."""
    pk = pk_of(UNPAID)
    text = contract.document(PAYMENTS, "record-80", bodies.body(MARK, UNPAID))
    story.receipts[pk] = replace(
        story.receipts[pk],
        record_id="record-80",
        event_id="event-80",
        document=text,
        document_id="record-80",
        event_type="payment.created",
        created_at=contract.CREATED_AT,
        body_hash=bodies.body_hash(MARK, UNPAID),
    )
    story.follow(UNPAID, 80)
    story.charges.pop()


def refusal_replayed_as_another(story: WideStory) -> None:
    status, headers, body = contract.again(PAYMENTS, story.answers_of[pk_of(UNPAID)])
    story.told(UNPAID, (status, headers, body.replace(b"402", b"412")))


def upsert_lost(story: WideStory) -> None:
    story.entities = [one for one in story.entities if one.document_id != _record(story, SENT)]


def order_lost_at_the_crm(story: WideStory) -> None:
    story.entities = [one for one in story.entities if one.document_id != _record(story, ORDERED)]


def entity_twice(story: WideStory) -> None:
    """A redelivery made a second entity, beside the one that it should have been."""
    story.upsert("crm.acme.example/events/second", story.receipts[pk_of(SENT)].document or "")


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


LOST, STUCK = ("acme", f"{MARK}7"), ("acme", f"{MARK}11")
PLANTED: list[tuple[Callable[[WideStory], None], dict[Kind, tuple[str, str]]]] = [
    (charged_twice, {Kind.SECOND_CHARGE: place(PAID)}),
    (charged_twice_under_one_key, {Kind.SECOND_CHARGE: place(PAID)}),
    (charged_without_an_answer, {Kind.ORPHAN_CHARGE: LOST, Kind.NEVER_ACCEPTED: LOST}),
    (charged_after_a_refusal, {Kind.ORPHAN_CHARGE: place(UNPAID)}),
    (never_charged, {Kind.LOST_CHARGE: place(PAID)}),
    (charged_another_amount, {Kind.WRONG_CHARGE: place(PAID)}),
    (charged_in_another_currency, {Kind.WRONG_CHARGE: place(PAID)}),
    (charge_of_nobody, {Kind.ORPHAN_CHARGE: ("", "")}),
    (bad_card_charged, {Kind.WRONG_DECISION: ("acme", f"{MARK}10")}),
    (good_card_declined, {Kind.WRONG_DECISION: ("acme", f"{MARK}8")}),
    (refused_and_recorded, {Kind.FINAL_WITH_OUTBOX: place(UNPAID)}),
    (refusal_replayed_as_another, {Kind.REPLAY_BODY: place(UNPAID)}),
    (upsert_lost, {Kind.LOST_ENTITY: place(SENT)}),
    (order_lost_at_the_crm, {Kind.LOST_ENTITY: place(ORDERED)}),
    (entity_twice, {Kind.SECOND_ENTITY: place(SENT)}),
    (entity_of_nobody, {Kind.ORPHAN_ENTITY: ("", "")}),
    (entity_with_other_content, {Kind.WRONG_CONTENT: place(SENT)}),
    (
        slot_booked_twice,
        {Kind.SLOT_BOOKED_TWICE: ("acme", place(request(APPOINTMENTS, "acme", 9, slot=3))[1])},
    ),
    (free_slot_called_taken, {Kind.WRONG_DECISION: place(request(APPOINTMENTS, "acme", 12))}),
    (order_never_completed, {Kind.UNFINISHED_WORK: place(ORDERED)}),
    (order_never_published, {Kind.LOST_EVENT: place(ORDERED)}),
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
# What the rival is told is the truth, or the other stories would prove nothing.
assert RIVAL.slot == BOOKED.subject
