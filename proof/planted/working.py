"""Planted in queued work: its claim, its destination, its message, and the reconciler."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from handlers import reconcile
from handlers.domain import worker
from handlers.domain.outbound import Answer
from handlers.domain.work import WEBHOOKS
from handlers.domain.work_item import Claimed, WorkItem
from proof.destinations import AskingBus, AskingDestination
from proof.planted.plant import Planted
from proof.records import AskingRecords
from proof.working import Pending, work
from tests.fakes.work import InMemoryWork

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from handlers.domain.pending import PendingWork
    from handlers.domain.work_item import ClaimOutcome, WorkClaim, WorkStore
    from handlers.domain.worker import Act, Ended, Turn
    from tests.fakes.work import Stored

_claim, _finish = InMemoryWork.claim, InMemoryWork.finish
_work, _act, _requeue = worker.work, worker._act, reconcile._requeue
# Clocks that are further apart than the margin of a lease: two may be at it at once.
_MINUTES_OFF: Final = (-200_000, 0)
_TWO: Final = Pending(messages=2)


def _free_though_done(item: WorkItem, claim: WorkClaim) -> bool:
    return item.lease_until < claim.now_ms


def _free_though_at_work(item: WorkItem, claim: WorkClaim) -> bool:
    return item.status != claim.work.done


def _of_nothing(store: InMemoryWork, claim: WorkClaim) -> ClaimOutcome:
    if store.records:
        return _claim(store, claim)
    there = Pending().delivery
    return Claimed(WorkItem(there, claim.work.running, 1, claim.owner, claim.lease_until))


def _finish_of_anybody(store: InMemoryWork, claim: WorkClaim, now_ms: int) -> bool:
    there = store.records.get((claim.message.tenant_id, claim.message.record_id))
    owner = None if there is None else there.item.owner
    return _finish(store, claim if owner is None else replace(claim, owner=owner), now_ms)


def _with_the_attempt(member: str) -> Callable[[Turn, WorkItem, WorkStore, Act], None]:
    """The attempt's number gets into what is sent."""

    def act(turn: Turn, item: WorkItem, store: WorkStore, act: Act) -> None:
        text = f'{{"id":"R1","attempt":{item.attempts}}}' if member == "document" else f"{item.attempts}"
        changed: dict[str, Any] = {member: text}
        _act(turn, replace(item, delivery=replace(item.delivery, **changed)), store, act)

    return act


def _twin_acknowledged(turn: Turn, store: WorkStore, act: Act) -> Ended:
    try:
        return _work(turn, store, act)
    except worker.TwinInProgress:
        return worker.Ended.DONE_BEFORE


def _not_sent(destination: object, *_: object, **__: object) -> Answer:
    del destination
    return Answer(200, {}, b"{}")


def _not_put(bus: object, *_: object) -> None:
    del bus


def _not_asked(records: object, *_: object) -> bool:
    del records
    return True


def _never(*_: object) -> bool:
    return False


def _as_it_is(store: InMemoryWork, work: PendingWork, *_: int) -> Stored | None:
    return store.records.get((work.message.tenant_id, work.message.record_id))


def _free_if(planted: object) -> AbstractContextManager[object]:
    return patch("tests.fakes.work._free", planted)


def _sending(member: str) -> AbstractContextManager[object]:
    return patch("handlers.domain.worker._act", _with_the_attempt(member))


def _as_marked_before(work: PendingWork, now_ms: int, dependencies: reconcile.Dependencies) -> bool:
    if work.requeued_at is None:
        return _requeue(work, now_ms, dependencies)
    dependencies.work_queues.send(work.message)
    return True


PLANTED: Final = (
    Planted(
        "done-work-claimed",
        "The claim of a worker does not ask whether the work is done.",
        "what was done was changed (claim)",
        7,
        0,
        partial(work, 2, 0, _TWO),
        partial(_free_if, _free_though_done),
    ),
    Planted(
        "work-in-hand-claimed",
        "The claim of a worker does not ask whether another is at it.",
        "B claimed work that A is at",
        4,
        0,
        partial(work, 2, 0, _TWO),
        partial(_free_if, _free_though_at_work),
    ),
    Planted(
        "work-of-no-record-claimed",
        "The claim of a worker does not ask whether there is a record.",
        "work of a record that is not there was claimed",
        2,
        0,
        partial(work, 1, 0, Pending(recorded=False)),
        partial(patch.object, InMemoryWork, "claim", _of_nothing),
    ),
    Planted(
        "no-fence-on-finish",
        "Work is marked as done by whoever comes, also after its lease.",
        "A wrote (finish) to what is another's",
        7,
        0,
        partial(work, 2, 0, _TWO, skews_ms=_MINUTES_OFF),
        partial(patch.object, InMemoryWork, "finish", _finish_of_anybody),
    ),
    Planted(
        "twin-acknowledged",
        "A worker whose twin is at work takes the work for done.",
        "B acknowledges the message of work that is not done",
        5,
        0,
        partial(work, 2, 0, _TWO),
        partial(patch, "handlers.adapters.work_batch.work", _twin_acknowledged),
    ),
    Planted(
        "destination-forgotten",
        "An order is announced, and its destination never gets it.",
        "A announces what its destination does not have",
        3,
        0,
        partial(work, 1, 0),
        partial(patch.object, AskingDestination, "call", _not_sent),
    ),
    Planted(
        "webhook-forgotten",
        "A webhook is marked as done, and its destination never gets it.",
        "A marks as done what its destination never got",
        3,
        0,
        partial(work, 1, 0, Pending(kind=WEBHOOKS)),
        partial(patch.object, AskingDestination, "call", _not_sent),
    ),
    Planted(
        "announcement-forgotten",
        "An order is marked as done, and nobody hears of it.",
        "A marks as done what was never announced",
        4,
        0,
        partial(work, 1, 0),
        partial(patch.object, AskingBus, "put", _not_put),
    ),
    Planted(
        "destination-key-of-the-attempt",
        "The destination is given another key by each attempt.",
        "A works for a record that is not there",
        3,
        0,
        partial(work, 1, 0),
        partial(_sending, "event_id"),
    ),
    Planted(
        "request-of-the-attempt",
        "The destination is sent something else by each attempt.",
        "E1 arrives as another request than before",
        3,
        1,
        partial(work, 2, 1),
        partial(_sending, "document"),
    ),
    Planted(
        "event-of-the-attempt",
        "An order is announced in other words by each attempt.",
        "E1 is announced in other words than before",
        4,
        1,
        partial(work, 2, 1),
        partial(_sending, "correlation_id"),
    ),
    Planted(
        "requeued-without-a-mark",
        "The reconciler queues work again, and does not mark that it did.",
        "R1 queues work again that is not marked",
        1,
        1,
        partial(work, 0, 1, reconcilers=1),
        partial(patch.object, AskingRecords, "mark_requeued", _not_asked),
    ),
    Planted(
        "requeued-by-two",
        "The reconciler marks work without looking whether another just did.",
        "work was queued again twice in one period",
        9,
        1,
        partial(work, 0, 1, reconcilers=2),
        partial(patch.object, InMemoryWork, "_lost", _as_it_is),
    ),
    Planted(
        "nothing-is-overdue",
        "The reconciler overlooks work whose message is lost.",
        "the work of R1 is never done (ACCEPTED)",
        1,
        1,
        partial(work, 0, 1),
        partial(patch, "handlers.reconcile.is_overdue", _never),
    ),
    Planted(
        "requeued-with-an-old-mark",
        "The reconciler marks work that is queued again the first time only.",
        "R1 queues work again that is not marked",
        6,
        3,
        partial(work, 0, 3, reconcilers=2),
        partial(patch, "handlers.reconcile._requeue", _as_marked_before),
    ),
)
