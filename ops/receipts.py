"""One receipt as an operator sees it, and taking it away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from handlers.adapters.receipt_item import from_item
from handlers.domain import ids
from handlers.domain.keys import partition_key
from handlers.domain.receipt import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient

    from handlers.domain.receipt import Receipt

_CONDITION_FAILED: Final = "ConditionalCheckFailedException"
# DESIGN section 7's margin for skew: a lease that is over by this machine's clock may not be for its owner.
_SKEW_MS: Final = 5_000
# `dispatch` writes a record within a second or so, ten at the outside (DESIGN section 8; handlers.read too).
_YOUNG_MS: Final = 10_000
# A takeover changes the owner, a completion the status, a release the lease: none of these was shown.
_AS_SHOWN: Final = "#owner = :owner AND #status = :status AND leaseUntil = :lease"


class Eviction(Enum):
    """What became of it."""

    EVICTED = "evicted"
    GONE = "gone"
    CHANGED = "changed"


@dataclass(frozen=True)
class Ids:
    """The ids that follow from a receipt; of a claim in progress, those that it will have."""

    record_id: str
    event_id: str


class Receipts:
    """A stage's receipts and records tables, as operators look at them."""

    def __init__(self, client: DynamoDBClient, receipts_table: str, records_table: str) -> None:
        self._client = client
        self._receipts = receipts_table
        self._records = records_table

    def find(self, tenant_id: str, key: str) -> Receipt | None:
        """The receipt under a key, read strongly. Raises CorruptItem when the item is no receipt."""
        item = self._item(self._receipts, partition_key(tenant_id, key))
        return None if item is None else from_item(item)

    def record(self, tenant_id: str, record_id: str) -> Mapping[str, Any] | None:
        """The item of the record (DynamoDB JSON) without its document, read strongly."""
        item = self._item(self._records, partition_key(tenant_id, record_id))
        return None if item is None else {name: value for name, value in item.items() if name != "document"}

    def evict(self, shown: Receipt) -> Eviction:
        """Delete `shown` if it still is as it was shown."""
        try:
            self._client.delete_item(
                TableName=self._receipts,
                Key={"pk": {"S": partition_key(shown.tenant_id, shown.key)}},
                ConditionExpression=_AS_SHOWN,
                ExpressionAttributeNames={"#owner": "owner", "#status": "status"},
                ExpressionAttributeValues={
                    ":owner": {"S": shown.owner},
                    ":status": {"S": shown.status.value},
                    ":lease": {"N": str(shown.lease_until)},
                },
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != _CONDITION_FAILED:
                raise
            # Gone: swept by TTL, or by this very call, whose first answer was lost.
            there = self._item(self._receipts, partition_key(shown.tenant_id, shown.key))
            return Eviction.GONE if there is None else Eviction.CHANGED
        return Eviction.EVICTED

    def _item(self, table: str, pk: str) -> Mapping[str, Any] | None:
        answer = self._client.get_item(TableName=table, Key={"pk": {"S": pk}}, ConsistentRead=True)
        return answer.get("Item")


def ids_of(receipt: Receipt) -> Ids:
    """Its record's and its event's id."""
    if receipt.outbox is not None:
        return Ids(ids.record_id_of(receipt), receipt.outbox.event_id)
    claim = (receipt.tenant_id, receipt.key, receipt.generation, receipt.created_at)
    return Ids(ids.record_id_of(receipt), ids.event_id(*claim))


def may_be_running(receipt: Receipt, now_ms: int) -> bool:
    """Whether its owner may still be at it."""
    return receipt.status is Status.IN_PROGRESS and receipt.lease_until + _SKEW_MS > now_ms


def is_young(created_at: int, now_ms: int) -> bool:
    """Whether the record of what was accepted at `created_at` (ms) need not be there yet."""
    return now_ms - created_at < _YOUNG_MS


def described(receipt: Receipt, now_ms: int, *, response: bool) -> dict[str, Any]:
    """All that may be shown of it: never the payload; the first answer's headers and body with `response`."""
    made = ids_of(receipt)
    return {
        "tenant": receipt.tenant_id,
        "key": receipt.key,
        "operation": receipt.operation,
        "status": receipt.status.value,
        "firstSeen": moment(receipt.created_at),
        "expires": moment(receipt.expires_at),
        "windowOpen": receipt.expires_at > now_ms,
        "owner": receipt.owner,
        "leaseUntil": moment(receipt.lease_until) if receipt.lease_until else None,
        "mayBeRunning": may_be_running(receipt, now_ms),
        "generation": receipt.generation,
        "recordId": made.record_id,
        "eventId": None if receipt.status is Status.COMPLETED and receipt.outbox is None else made.event_id,
        "correlationId": receipt.correlation_id,
        "checkpoint": receipt.checkpoint is not None,
        "response": _response(receipt, whole=response),
        "keptUntil": moment(receipt.purge_at * 1000),
    }


def moment(ms: int) -> str:
    """A time in ms since the epoch as people and scripts read it."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _response(receipt: Receipt, *, whole: bool) -> dict[str, Any] | None:
    stored = receipt.response
    if stored is None:
        return None
    more = {"headers": stored.headers, "body": stored.body} if whole else {}
    return {"status": stored.status, **more}
