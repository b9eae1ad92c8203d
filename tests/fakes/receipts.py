"""A receipts table in memory; tests/contract runs the same suite over it, moto and the local AWS."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from handlers.domain.ports import Held, Written
from handlers.domain.receipt import Status

if TYPE_CHECKING:
    from handlers.domain.ports import PutOutcome
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


def _free(existing: Receipt, claim: Claim) -> bool:
    window_over = existing.expires_at <= claim.arrival_ms
    lapsed = existing.lease_until < claim.clock_ms
    another = existing.fingerprint != claim.fingerprint
    return window_over and (existing.status is Status.COMPLETED or (lapsed and another))
