"""Accept mode and what follows from it: no schedule breaks a promise (what is planted: `proof.planted`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from proof.accepting import OTHER_LEAD, accepted, lead, order, outward
from proof.requests import unmeasured
from proof.search import search
from proof.telling import told

if TYPE_CHECKING:
    from proof.scenario import Scenario


@pytest.mark.parametrize(
    "scenario",
    [
        accepted([lead()] * 2, 2),
        accepted([lead(), lead(OTHER_LEAD)], 2),
        accepted([lead(), lead(tenant="brook")], 2),
        accepted([lead()] * 2, 2, skews_ms=(3_000, -2_000)),
        outward([lead()], 2),
        outward([order()], 2),
    ],
    ids=lambda scenario: scenario.name,
)
def test_no_schedule_breaks_a_promise_of_accept_mode(scenario: Scenario) -> None:
    with unmeasured():
        found = search(scenario)
        assert found.complete, told(found)
