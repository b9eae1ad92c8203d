"""The records table in memory, as `dispatch` writes it; tests/contract/test_records.py proves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.domain.outbox import DispatchConflict
from handlers.domain.work import BY_OPERATION
from tests.fakes.work import InMemoryWork

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.outbox import Delivery


class InMemoryRecords(InMemoryWork):
    """Records with work, and `plain` ones, from which none follows."""

    def __init__(self, clock_ms: Callable[[], int] | None = None) -> None:
        """See `InMemoryWork`."""
        super().__init__(clock_ms)
        self.plain: dict[tuple[str, str], Delivery] = {}

    def write(self, delivery: Delivery) -> str | None:
        """As `DynamoDbRecords.write`."""
        place = (delivery.tenant_id, delivery.record_id)
        there = self.records[place].item.delivery if place in self.records else self.plain.get(place)
        if there is not None and there.event_id != delivery.event_id:
            raise DispatchConflict(f"record {delivery.record_id} was written by another event")
        if delivery.operation in BY_OPERATION:
            return super().write(delivery)
        self.plain.setdefault(place, delivery)
        return None
