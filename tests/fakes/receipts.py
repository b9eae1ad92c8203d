"""A receipts table in memory; tests/contract runs the same suite over it, moto and the local AWS."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from handlers.domain.ports import Done, Gone, Held, TakenOver, Written
from handlers.domain.receipt import Status, purge_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.ports import OwnersOutcome, PutOutcome, TakeOverOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt


class InMemoryReceipts:
    """`ReceiptStore` over a dict; the lock makes check and write one step, as DynamoDB does."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str], Receipt] = {}
        self.writes = 0
        self._lock = threading.Lock()

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        with self._lock:
            place = (receipt.tenant_id, receipt.key)
            existing = self.items.get(place)
            self.writes += 1
            if existing is not None and not _free(existing, claim):
                return Held(existing)
            self.items[place] = receipt
            return Written(abandoned=existing is not None and existing.status is Status.IN_PROGRESS)

    def take_over(self, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int) -> TakeOverOutcome:
        taken = self._update(
            lapsed,
            lapsed.owner,
            lambda existing: replace(
                existing,
                owner=claim.owner,
                lease_until=lease_until,
                expires_at=expires_at,
                purge_at=purge_at(claim.clock_ms, expires_at),
            ),
        )
        if isinstance(taken, Held) and taken.existing.owner == claim.owner:
            return TakenOver(taken.existing)
        return taken

    def checkpoint(self, owned: Receipt, text: str) -> OwnersOutcome:
        return self._owners(owned, lambda existing: replace(existing, checkpoint=text))

    def complete(self, owned: Receipt) -> OwnersOutcome:
        outcome = self._owners(
            owned,
            lambda existing: replace(
                existing,
                status=Status.COMPLETED,
                lease_until=owned.lease_until,
                expires_at=owned.expires_at,
                purge_at=owned.purge_at,
                response=owned.response,
                outbox=owned.outbox,
                checkpoint=None,
            ),
        )
        own = isinstance(outcome, Held) and outcome.existing.owner == owned.owner
        if isinstance(outcome, Held) and own and outcome.existing.status is Status.COMPLETED:
            return Done()
        return outcome

    def release(self, owned: Receipt) -> OwnersOutcome:
        return self._owners(owned, lambda existing: replace(existing, lease_until=0))

    def _owners(self, owned: Receipt, change: Callable[[Receipt], Receipt]) -> OwnersOutcome:
        outcome = self._update(owned, owned.owner, change)
        return Done() if isinstance(outcome, TakenOver) else outcome

    def _update(self, receipt: Receipt, owner: str, change: Callable[[Receipt], Receipt]) -> TakeOverOutcome:
        with self._lock:
            place = (receipt.tenant_id, receipt.key)
            existing = self.items.get(place)
            self.writes += 1
            if existing is None:
                return Gone()
            if existing.owner != owner or existing.status is not Status.IN_PROGRESS:
                return Held(existing)
            self.items[place] = change(existing)
            return TakenOver(self.items[place])


def _free(existing: Receipt, claim: Claim) -> bool:
    window_over = existing.expires_at <= claim.arrival_ms
    lapsed = existing.lease_until < claim.clock_ms
    another = existing.fingerprint != claim.fingerprint
    return window_over and (existing.status is Status.COMPLETED or (lapsed and another))
