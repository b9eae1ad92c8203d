"""Slots in memory; tests/contract runs the same suite over it, moto and the local AWS."""

from __future__ import annotations

import threading


class InMemorySlots:
    """`SlotStore` over a dict; the lock makes check and write one step, as DynamoDB does."""

    def __init__(self) -> None:
        self.taken: dict[tuple[str, str], str] = {}
        self.writes = 0
        self._lock = threading.Lock()

    def take(self, tenant_id: str, slot: str, generation: str, record_id: str) -> bool:
        with self._lock:
            self.writes += 1
            return self.taken.setdefault((tenant_id, slot), generation) == generation
