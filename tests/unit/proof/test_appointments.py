"""Appointments: every schedule keeps the slot for one patient, and what is planted is found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from proof.appointments import appointment, appointments
from proof.requests import unmeasured
from proof.search import search
from proof.telling import told
from tests.fakes.slots import InMemorySlots

if TYPE_CHECKING:
    from handlers.domain.operation import Booking
    from proof.scenario import Scenario

ADA, BOB = appointment("ada"), appointment("bob")


@pytest.mark.parametrize(
    "scenario",
    [
        appointments([ADA, ADA], 1),
        appointments([ADA, BOB], 1),
        appointments([ADA, appointment("ada", reason="a cough")], 1),
        appointments([ADA, appointment("ada", tenant="brook")], 1),
        appointments([ADA, ADA], 1, skews_ms=(3_000, -2_000)),
    ],
    ids=lambda scenario: scenario.name,
)
def test_no_schedule_breaks_a_promise_of_appointments(scenario: Scenario) -> None:
    with unmeasured():
        found = search(scenario)
        assert found.complete, told(found)


class LastWins(InMemorySlots):
    """Whoever comes last has the slot."""

    def take(self, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
        self.taken[tenant_id, slot] = booking
        return None


class Unfamiliar(InMemorySlots):
    """Does not know a request's own booking again."""

    def take(self, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
        there = self.taken.get((tenant_id, slot))
        return there or super().take(tenant_id, slot, booking)


class Nameless(InMemorySlots):
    """Forgets whom a slot is for."""

    def take(self, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
        there = super().take(tenant_id, slot, booking)
        return there and replace(there, holder=None)


def _not_at_all(self: object, *_: object) -> None:
    return None


@pytest.mark.parametrize(
    ("planted", "scenario", "broken"),
    [
        (None, appointments([ADA, BOB], 0, slots=LastWins), "two patients have one slot"),
        (None, appointments([ADA], 1, slots=Unfamiliar), "who was refused for good"),
        (
            patch("handlers.operations.appointments._holder", lambda *_: "anybody"),
            appointments([ADA, BOB], 0),
            "its patient has the slot, which is another's",
        ),
        # The second comes after the window.
        (None, appointments([ADA, ADA], 1, slots=Nameless), "another has the slot, which is its patient's"),
        (patch("proof.slots.AskingSlots.take", _not_at_all), appointments([ADA], 0), "has not got the slot"),
    ],
)
def test_what_is_planted_is_found(planted: Any, scenario: Scenario, broken: str) -> None:
    with planted or unmeasured(), unmeasured():
        found = search(scenario)
        assert broken in " ".join(found.broken), found
