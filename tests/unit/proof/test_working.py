"""Queued work: every schedule ends with it done, one worker at a time (what is planted: `proof.planted`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from handlers.domain.work import WEBHOOKS
from proof.destinations import Bus, Destination, Put, Upsert
from proof.programs import Call
from proof.requests import unmeasured
from proof.search import search
from proof.telling import told
from proof.working import Pending, work

if TYPE_CHECKING:
    from proof.ports import Port
    from proof.scenario import Scenario

MINUTES_OFF = (-200_000, 0)


@pytest.mark.parametrize(
    "scenario",
    [
        work(2, 2),
        work(2, 1, Pending(kind=WEBHOOKS)),
        work(2, 1, Pending(messages=2)),
        work(1, 2, Pending(max_receives=1)),
        work(1, 2, Pending(recorded=False)),
        work(1, 2, reconcilers=1),
        work(1, 1, reconcilers=2),
        work(2, 1, Pending(messages=2), skews_ms=(3_000, -2_000)),
        work(2, 1, Pending(messages=2), skews_ms=MINUTES_OFF),
    ],
    ids=lambda scenario: scenario.name,
)
def test_no_schedule_breaks_a_promise_of_work(scenario: Scenario) -> None:
    with unmeasured():
        found = search(scenario)
        assert found.complete, told(found)


@pytest.mark.parametrize(
    ("port", "name", "one", "other"),
    [
        (Destination(), "upsert", Upsert("PUT", "u", "E1", "{}"), Upsert("PUT", "u", "E1", '{"a":1}')),
        (Bus(), "announce", Put("E1", "t", "{}"), Put("E1", "t", '{"a":1}')),
    ],
)
def test_another_text_under_one_id_is_found(port: Port, name: str, one: object, other: object) -> None:
    arrived = port.apply(port.initial(), Call(port.name, name, (one,)), 0)
    again = port.apply(arrived.state, Call(port.name, name, (one,)), 0)
    assert again.broken == arrived.broken == ()
    assert again.state == arrived.state
    assert port.apply(arrived.state, Call(port.name, name, (other,)), 0).broken
