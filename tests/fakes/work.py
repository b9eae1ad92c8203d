"""Records with work in memory (`WorkStore`, `PendingIndex`); tests/contract proves it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from handlers.domain.pending import Page, PendingWork
from handlers.domain.work import BY_OPERATION, pending_shard
from handlers.domain.work_item import Claimed, WorkItem, decide
from handlers.domain.work_message import WorkMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.outbox import Delivery
    from handlers.domain.work_item import ClaimOutcome, WorkClaim


@dataclass(frozen=True)
class Stored:
    """One record. `since`: pending since then, None when it is not; the rest as the table's attributes."""

    item: WorkItem
    updated_at: int
    since: int | None
    requeued_at: int | None = None
    requeues: int = 0


class InMemoryWork:
    """Over a dict; the lock makes check and write one step, as DynamoDB does."""

    def __init__(self, clock_ms: Callable[[], int] | None = None) -> None:
        """`clock_ms`: of who writes records; without it, each is written when it was accepted."""
        self.records: dict[tuple[str, str], Stored] = {}
        self._clock_ms = clock_ms
        self._lock = threading.Lock()

    def write(self, delivery: Delivery) -> str | None:
        """As `dispatch` writes a record."""
        place = (delivery.tenant_id, delivery.record_id)
        if place in self.records:
            return self.records[place].item.status
        now_ms = delivery.created_at if self._clock_ms is None else self._clock_ms()
        item = WorkItem(delivery, BY_OPERATION[delivery.operation].waiting, 0, None, 0)
        self.records[place] = Stored(item, now_ms, delivery.created_at)
        return None

    def claim(self, claim: WorkClaim) -> ClaimOutcome:
        with self._lock:
            stored = self.records.get(_place(claim))
            if stored is None or not _free(stored.item, claim):
                return decide(stored.item if stored else None, claim)
            item = replace(
                stored.item,
                status=claim.work.running,
                attempts=stored.item.attempts + 1,
                owner=claim.owner,
                lease_until=claim.lease_until,
            )
            since = claim.now_ms if stored.since is None else stored.since
            self.records[_place(claim)] = replace(stored, item=item, updated_at=claim.now_ms, since=since)
            return Claimed(item)

    def finish(self, claim: WorkClaim, now_ms: int) -> bool:
        with self._lock:
            stored = self.records.get(_place(claim))
            if stored is None or stored.item.owner != claim.owner:
                return stored is not None and stored.item.status == claim.work.done
            item = replace(stored.item, status=claim.work.done, owner=None, lease_until=0)
            self.records[_place(claim)] = replace(stored, item=item, updated_at=now_ms, since=None)
            return True

    def fail(self, claim: WorkClaim, now_ms: int, *, final: bool) -> None:
        with self._lock:
            stored = self.records.get(_place(claim))
            if stored is None or stored.item.owner != claim.owner:
                return
            status = claim.work.failed if final else claim.work.running
            item = replace(stored.item, status=status, lease_until=0)
            since = None if final else stored.since
            self.records[_place(claim)] = replace(stored, item=item, updated_at=now_ms, since=since)

    def page(self, shard: str, start: object | None) -> Page:
        with self._lock:
            pending = [_pending(stored) for stored in self.records.values() if stored.since is not None]
        of_shard = [
            one for one in pending if pending_shard(one.message.operation, one.message.record_id) == shard
        ]
        return Page(tuple(sorted(of_shard, key=lambda one: one.since)), 0, None)

    def mark_requeued(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
        with self._lock:
            stored = self._lost(work, now_ms, quiet_since_ms)
            if stored is None:
                return False
            marked = replace(stored, requeued_at=now_ms, requeues=stored.requeues + 1)
            self.records[work.message.tenant_id, work.message.record_id] = marked
            return True

    def give_up(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
        with self._lock:
            stored = self._lost(work, now_ms, quiet_since_ms)
            place = (work.message.tenant_id, work.message.record_id)
            failed = BY_OPERATION[work.message.operation].failed
            if stored is None:
                there = self.records.get(place)
                return there is not None and (there.item.status, there.updated_at) == (failed, now_ms)
            item = replace(stored.item, status=failed)
            self.records[place] = Stored(item, now_ms, since=None)
            return True

    def _lost(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> Stored | None:
        stored = self.records.get((work.message.tenant_id, work.message.record_id))
        if (
            stored is None
            or stored.since != work.since
            or stored.requeued_at != work.requeued_at
            or stored.item.lease_until >= now_ms
            or stored.updated_at > quiet_since_ms
        ):
            return None
        return stored


def _place(claim: WorkClaim) -> tuple[str, str]:
    return (claim.message.tenant_id, claim.message.record_id)


def _free(item: WorkItem, claim: WorkClaim) -> bool:
    ours = item.delivery.event_id == claim.message.event_id
    return ours and item.status != claim.work.done and item.lease_until < claim.now_ms


def _pending(stored: Stored) -> PendingWork:
    assert stored.since is not None
    return PendingWork(
        WorkMessage.of(stored.item.delivery), stored.since, stored.requeued_at, stored.requeues
    )
