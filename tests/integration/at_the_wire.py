"""The operations of bench over the local AWS, with a tap between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.operations import Operations

if TYPE_CHECKING:
    from bench.counts import Meter
    from bench.local_aws import Clients
    from bench.wire import Wire


@dataclass(frozen=True)
class AtTheWire:
    """`clients` connect to `wire`; `meter` counts what passes there."""

    wire: Wire
    clients: Clients
    meter: Meter

    def operations(self) -> Operations:
        """Functions over empty tables; `wire` has seen nothing of their making."""
        made = Operations(self.clients)
        self.wire.take()
        return made

    def receipt(self, operations: Operations) -> dict[str, Any]:
        """The one item of the receipts table."""
        (item,) = self.clients.dynamodb.scan(TableName=operations.receipts)["Items"]
        return item
