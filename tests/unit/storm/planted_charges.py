"""To plant: charges that are wrong, and decisions of the provider that are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loadtest import bodies
from loadtest.operations import PAYMENTS
from loadtest.verdict import Kind
from tests.unit.storm import contract
from tests.unit.storm.wide_stories import MARK, PAID, UNPAID, WideStory, pk_of, place, request

if TYPE_CHECKING:
    from collections.abc import Callable


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


def charged_at_another_tenants(story: WideStory) -> None:
    """acme's payment went to beta's account."""
    story.charges[0] = replace(story.charges[0], account="pay.beta.example")


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


LOST = ("acme", f"{MARK}7")
PLANTED: list[tuple[Callable[[WideStory], None], dict[Kind, tuple[str, str]]]] = [
    (charged_twice, {Kind.SECOND_CHARGE: place(PAID)}),
    (charged_twice_under_one_key, {Kind.SECOND_CHARGE: place(PAID)}),
    (charged_without_an_answer, {Kind.ORPHAN_CHARGE: LOST, Kind.NEVER_ACCEPTED: LOST}),
    (charged_after_a_refusal, {Kind.ORPHAN_CHARGE: place(UNPAID)}),
    (never_charged, {Kind.LOST_CHARGE: place(PAID)}),
    (charged_another_amount, {Kind.WRONG_CHARGE: place(PAID)}),
    (charged_in_another_currency, {Kind.WRONG_CHARGE: place(PAID)}),
    (charged_at_another_tenants, {Kind.MISPLACED: place(PAID)}),
    (charge_of_nobody, {Kind.ORPHAN_CHARGE: ("", "")}),
    (bad_card_charged, {Kind.WRONG_DECISION: ("acme", f"{MARK}10")}),
    (good_card_declined, {Kind.WRONG_DECISION: ("acme", f"{MARK}8")}),
    (refused_and_recorded, {Kind.FINAL_WITH_OUTBOX: place(UNPAID)}),
    (refusal_replayed_as_another, {Kind.REPLAY_BODY: place(UNPAID)}),
]
