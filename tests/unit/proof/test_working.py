"""Queued work: every schedule ends with it done, one worker at a time, and what is planted is found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from handlers.domain.work import WEBHOOKS
from handlers.domain.worker import Ended, TwinInProgress
from handlers.domain.worker import work as real_work
from proof.destinations import Bus, Destination, Put, Upsert
from proof.programs import Call
from proof.requests import unmeasured
from proof.search import search
from proof.telling import told
from proof.working import Pending, work
from tests.fakes.work import InMemoryWork

if TYPE_CHECKING:
    from handlers.domain.pending import PendingWork
    from handlers.domain.work_item import WorkClaim, WorkItem, WorkStore
    from handlers.domain.worker import Act, Turn
    from handlers.reconcile import Dependencies
    from proof.ports import Port
    from proof.scenario import Scenario
    from tests.fakes.work import Stored

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


def _acknowledging_twins(turn: Turn, store: WorkStore, act: Act) -> Ended:
    try:
        return real_work(turn, store, act)
    except TwinInProgress:
        return Ended.DONE_BEFORE


def _whoever_is_at_it(item: WorkItem, claim: WorkClaim) -> bool:
    return item.status != claim.work.done


def _whatever_is_done(item: WorkItem, claim: WorkClaim) -> bool:
    return item.lease_until < claim.now_ms


def _whoever_owns_it(self: InMemoryWork, claim: WorkClaim, now_ms: int) -> bool:
    place = (claim.message.tenant_id, claim.message.record_id)
    return _finish(self, replace(claim, owner=self.records[place].item.owner or ""), now_ms)


_finish = InMemoryWork.finish


def _unmarked(work: PendingWork, now_ms: int, dependencies: Dependencies) -> bool:
    del now_ms
    dependencies.work_queues.send(work.message)
    return True


def _as_it_is(self: InMemoryWork, work: PendingWork, *_: int) -> Stored | None:
    return self.records.get((work.message.tenant_id, work.message.record_id))


def _nothing(self: object, *_: object) -> bool:
    return False


TWO = Pending(messages=2)


@pytest.mark.parametrize(
    ("planted", "scenario", "broken"),
    [
        (patch("tests.fakes.work._free", _whoever_is_at_it), work(2, 0, TWO), "claimed work that A is at"),
        (
            patch("handlers.adapters.work_batch.work", _acknowledging_twins),
            work(2, 0, TWO),
            "acknowledges the message of work that is not done",
        ),
        (patch("tests.fakes.work._free", _whatever_is_done), work(2, 0, TWO), "what was done was changed"),
        (
            patch.object(InMemoryWork, "finish", _whoever_owns_it),
            work(2, 0, TWO, skews_ms=MINUTES_OFF),
            "A wrote (finish) to what is another's",
        ),
        (patch("handlers.reconcile._requeue", _unmarked), work(0, 1, reconcilers=1), "that is not marked"),
        (patch.object(InMemoryWork, "_lost", _as_it_is), work(0, 1, reconcilers=2), "twice in one period"),
        (patch("proof.records.AskingRecords.mark_requeued", _nothing), work(0, 1), "is never done"),
        (
            patch("handlers.fulfil.Destinations.send", _nothing),
            work(1, 0),
            "announces what its destination does not have",
        ),
        (
            patch("handlers.deliver.Destinations.send", _nothing),
            work(1, 0, Pending(kind=WEBHOOKS)),
            "marks as done what its destination never got",
        ),
        (
            patch("proof.destinations.AskingBus.put", _nothing),
            work(1, 0),
            "marks as done what was never announced",
        ),
    ],
)
def test_what_is_planted_is_found(planted: Any, scenario: Scenario, broken: str) -> None:
    with planted, unmeasured():
        found = search(scenario)
        assert broken in " ".join(found.broken), found


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
