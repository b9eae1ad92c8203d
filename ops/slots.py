"""One slot as an operator sees it, and setting it free."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from handlers.adapters.slots import from_item
from handlers.domain import ids
from handlers.domain.keys import partition_key
from handlers.operations.appointments import slot_of
from ops.receipts import moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient

    from handlers.domain.operation import Booking

_CONDITION_FAILED: Final = "ConditionalCheckFailedException"
# Another request's booking since: not what was shown.
_AS_SHOWN: Final = "generation = :generation"
# A booking is completed within its invocation (28 s of `execute`) and its record is there within ten more
# (DESIGN section 8): until then it cannot be told from one that never will be.
_YOUNG_MS: Final = 60_000


class Freeing(Enum):
    """What became of it."""

    FREED = "freed"
    GONE = "gone"
    CHANGED = "changed"


@dataclass(frozen=True)
class Slot:
    """A slot that is taken: who has it, and whether the record of that booking exists."""

    tenant_id: str
    name: str
    booking: Booking
    recorded: bool

    def is_young(self, now_ms: int) -> bool:
        """Whether its booking may still be under way."""
        created_at = ids.created_at_ms(self.booking.record_id)
        return created_at is not None and now_ms - created_at < _YOUNG_MS

    def described(self) -> dict[str, Any]:
        """All that may be shown of it."""
        created_at = ids.created_at_ms(self.booking.record_id)
        return {
            "tenant": self.tenant_id,
            "slot": self.name,
            **dict(zip(("doctorId", "startsAt"), json.loads(self.name), strict=True)),
            "recordId": self.booking.record_id,
            "recordExists": self.recorded,
            "requested": None if created_at is None else moment(created_at),
            "generation": self.booking.generation,
        }


class Slots:
    """The slots table, and the records that its bookings became."""

    def __init__(self, client: DynamoDBClient, slots_table: str, records_table: str) -> None:
        self._client = client
        self._slots, self._records = slots_table, records_table

    def find(self, tenant_id: str, doctor: str, starts_at: str) -> Slot | None:
        """The slot if it is taken, read strongly.

        Raises ValueError or OverflowError for what is no moment, CorruptItem for what is no booking.
        """
        name = slot_of(doctor, starts_at)
        item = self._item(self._slots, partition_key(tenant_id, name))
        if item is None:
            return None
        booking = from_item(item)
        record = self._item(self._records, partition_key(tenant_id, booking.record_id))
        return Slot(tenant_id, name, booking, recorded=record is not None)

    def free(self, shown: Slot) -> Freeing:
        """Delete the booking if it still is the one that was shown."""
        pk = partition_key(shown.tenant_id, shown.name)
        try:
            self._client.delete_item(
                TableName=self._slots,
                Key={"pk": {"S": pk}},
                ConditionExpression=_AS_SHOWN,
                ExpressionAttributeValues={":generation": {"S": shown.booking.generation}},
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != _CONDITION_FAILED:
                raise
            # Gone: freed by somebody else, or by this very call, whose first answer was lost.
            return Freeing.GONE if self._item(self._slots, pk) is None else Freeing.CHANGED
        return Freeing.FREED

    def _item(self, table: str, pk: str) -> Mapping[str, Any] | None:
        answer = self._client.get_item(TableName=table, Key={"pk": {"S": pk}}, ConsistentRead=True)
        return answer.get("Item")
