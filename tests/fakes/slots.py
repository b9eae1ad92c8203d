"""Slots in memory; tests/contract runs the same suite over it, moto and the local AWS."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handlers.domain.operation import Booking


class InMemorySlots:
    """`SlotStore` over a dict; the lock makes check and write one step, as DynamoDB does."""

    def __init__(self) -> None:
        self.taken: dict[tuple[str, str], Booking] = {}
        self.writes = 0
        self._lock = threading.Lock()

    def take(self, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
        with self._lock:
            self.writes += 1
            there = self.taken.setdefault((tenant_id, slot), booking)
            return None if there.generation == booking.generation else there
