"""Appointments: every schedule keeps the slot for one patient (what is planted: `proof.planted`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from proof.appointments import appointment, appointments
from proof.requests import unmeasured
from proof.search import search
from proof.telling import told

if TYPE_CHECKING:
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
