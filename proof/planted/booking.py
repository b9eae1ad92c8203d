"""Planted in appointments: who has the slot, and who is told so."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from handlers.domain import execute
from proof.appointments import appointment, appointments
from proof.planted.plant import Planted
from proof.slots import AskingSlots
from tests.fakes.slots import InMemorySlots

if TYPE_CHECKING:
    from handlers.domain.effect import Attempt
    from handlers.domain.operation import Booking

_ADA, _BOB = appointment("ada"), appointment("bob")
_take, _attempt = InMemorySlots.take, execute._Run._attempt


def _for_the_last(store: InMemorySlots, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
    store.taken[tenant_id, slot] = booking
    return None


def _from_all(store: InMemorySlots, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
    return store.taken.get((tenant_id, slot)) or _take(store, tenant_id, slot, booking)


def _where_taken(store: InMemorySlots, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
    if (tenant_id, slot) in store.taken:
        return _take(store, tenant_id, slot, booking)
    return replace(booking, holder=None)


def _for_nobody(store: InMemorySlots, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
    return _take(store, tenant_id, slot, replace(booking, holder=None))


def _forgotten(slots: AskingSlots, tenant_id: str, slot: str, booking: Booking) -> None:
    del slots, tenant_id, slot, booking


def _of_the_attempt(run: execute._Run, record_id: str) -> Attempt:
    return replace(_attempt(run, record_id), generation=run.acquired.receipt.owner)


def _anybody(patient: str, generation: str) -> str:
    del patient, generation
    return "anybody"


PLANTED: Final = (
    Planted(
        "slot-for-the-last",
        "A slot is booked without the condition that nobody has it.",
        "a slot of acme is booked for another now: two patients have one slot",
        6,
        0,
        partial(appointments, [_ADA, _BOB], 0),
        partial(patch.object, InMemorySlots, "take", _for_the_last),
    ),
    Planted(
        "own-booking-not-recognised",
        "A booking that the SDK sent twice takes its own first write for another's.",
        "the slot is booked for Y, who was refused for good",
        3,
        1,
        partial(appointments, [_ADA], 1),
        partial(patch.object, InMemorySlots, "take", _from_all),
    ),
    Planted(
        "booking-of-the-attempt",
        "A booking carries the attempt that made it, not the generation.",
        "A has a stored 201, and not the slot",
        4,
        0,
        partial(appointments, [_ADA], 0),
        partial(patch, "handlers.domain.execute._Run._attempt", _of_the_attempt),
    ),
    Planted(
        "booking-forgotten",
        "A slot is not booked at all.",
        "A was told 201, and has not got the slot",
        3,
        0,
        partial(appointments, [_ADA], 0),
        partial(patch.object, AskingSlots, "take", _forgotten),
    ),
    Planted(
        "slot-where-taken",
        "The condition on a slot is turned round: it is free where somebody has it.",
        "A was told that the slot is taken, and nobody has it",
        4,
        0,
        partial(appointments, [_ADA], 0),
        partial(patch.object, InMemorySlots, "take", _where_taken),
    ),
    Planted(
        "patients-not-told-apart",
        "A booking does not say for whom it is, and a duplicate is told that it is its own.",
        "B was told that its patient has the slot, which is another's",
        7,
        0,
        partial(appointments, [_ADA, _BOB], 0),
        partial(patch, "handlers.operations.appointments._holder", _anybody),
    ),
    Planted(
        "patient-forgotten",
        "A booking does not say for whom it is, and a duplicate is told that it is another's.",
        "Y was told that another has the slot, which is its patient's",
        5,
        1,
        partial(appointments, [_ADA], 1),
        partial(patch.object, InMemorySlots, "take", _for_nobody),
    ),
)
