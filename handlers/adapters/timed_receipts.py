"""A receipt store that knows how long it took: execute mode asks it several times a request."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.ports import OwnersOutcome, PutOutcome, ReceiptStore, TakeOverOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt

Outcome = TypeVar("Outcome")


class TimedReceipts:
    """`ReceiptStore` over another, for one request.

    Attributes:
        milliseconds: what all calls took together, failed ones too; None when there was none.
    """

    def __init__(self, store: ReceiptStore, clock_seconds: Callable[[], float] = time.perf_counter) -> None:
        self._store = store
        self._clock = clock_seconds
        self.milliseconds: float | None = None

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        """See `ReceiptStore.put`."""
        return self._timed(lambda: self._store.put(receipt, claim))

    def take_over(self, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int) -> TakeOverOutcome:
        """See `ReceiptStore.take_over`."""
        return self._timed(lambda: self._store.take_over(lapsed, claim, lease_until, expires_at))

    def checkpoint(self, owned: Receipt, text: str) -> OwnersOutcome:
        """See `ReceiptStore.checkpoint`."""
        return self._timed(lambda: self._store.checkpoint(owned, text))

    def complete(self, owned: Receipt) -> OwnersOutcome:
        """See `ReceiptStore.complete`."""
        return self._timed(lambda: self._store.complete(owned))

    def release(self, owned: Receipt) -> OwnersOutcome:
        """See `ReceiptStore.release`."""
        return self._timed(lambda: self._store.release(owned))

    def _timed(self, call: Callable[[], Outcome]) -> Outcome:
        before = self._clock()
        try:
            return call()
        finally:
            self.milliseconds = (self.milliseconds or 0.0) + (self._clock() - before) * 1000
