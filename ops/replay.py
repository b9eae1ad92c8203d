"""Driving receipts again whose record never came: after a lost stream, or a restore."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.keys import partition_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mypy_boto3_dynamodb import DynamoDBClient

    from handlers.adapters.parking import RetryQueue

    Item = Mapping[str, Any]

# BatchGetItem takes 100 keys (DynamoDB API reference).
_BATCH: Final = 100
_DURATION: Final = re.compile(r"([1-9][0-9]*)([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
REASON: Final = "dispatch replay"
"""What parked messages made here say in place of an error."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A receipt whose record is not there: its place in the receipts table, and whose it is."""

    pk: str
    tenant_id: str


@dataclass(slots=True)
class Found:
    """What a look over the receipts has found so far.

    `receipts`: with an outbox, since the time asked for. `corrupt`: those of them that name no record;
    `dispatch` has parked them, and they end in the dead-letter queue.
    """

    receipts: int = 0
    corrupt: int = 0
    missing: list[Missing] = field(default_factory=list)


def parse_since(text: str, now: datetime) -> datetime:
    """The moment that `text` names: `2h` (s, m, h, d) before `now`, or an ISO 8601 time (UTC without zone).

    Raises:
        ValueError: it is neither, or is in the future.
    """
    duration = _DURATION.fullmatch(text)
    if duration:
        try:
            return now - timedelta(**{_UNITS[duration[2]]: int(duration[1])})
        except OverflowError:
            raise ValueError(f"{text!r} is before all time") from None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is neither a duration such as 2h nor an ISO 8601 time") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > now:
        raise ValueError(f"{text!r} is in the future")
    return moment


class Replay:
    """Compares a stage's receipts with its records, and queues what is missing."""

    def __init__(
        self, client: DynamoDBClient, receipts_table: str, records_table: str, queue: RetryQueue
    ) -> None:
        self._client = client
        self._receipts_table = receipts_table
        self._records_table = records_table
        self._queue = queue

    def look(self, since: datetime, tenant_id: str | None, progress: Callable[[Found], None]) -> Found:
        """Find the receipts since `since` (of one tenant, or all) that have an outbox and no record.

        Reads the whole receipts table: it has no index by time, which would cost every accepted request
        another write. Calls `progress` after each page.
        """
        found = Found()
        for page in self._pages(since, tenant_id):
            by_record = {key: receipt for receipt in page if (key := _record_key(receipt)) is not None}
            found.receipts += len(page)
            found.corrupt += len(page) - len(by_record)
            keys = list(by_record)
            for start in range(0, len(keys), _BATCH):
                batch = keys[start : start + _BATCH]
                present = self._present(batch)
                found.missing += [_missing(by_record[key]) for key in batch if key not in present]
            progress(found)
        return found

    def queue(self, missing: Missing, now_ms: int) -> bool:
        """Put the receipt on the retry queue, as the stream would have; False when it is gone by now."""
        # Read again: between look and queue an operator may have evicted it, or its key opened a new window
        # (whose own outbox the stream has brought; bringing it again is harmless).
        answer = self._client.get_item(
            TableName=self._receipts_table, Key={"pk": {"S": missing.pk}}, ConsistentRead=True
        )
        image = answer.get("Item")
        if image is None or "outboxId" not in image:
            return False
        self._queue.park(image, REASON, now_ms)
        return True

    def _pages(self, since: datetime, tenant_id: str | None) -> Iterator[list[Item]]:
        condition = "createdAt >= :since AND attribute_exists(outboxId)"
        values: dict[str, Any] = {":since": {"N": str(int(since.timestamp() * 1000))}}
        if tenant_id is not None:
            condition += " AND tenantId = :tenant"
            values[":tenant"] = {"S": tenant_id}
        pages = self._client.get_paginator("scan").paginate(
            TableName=self._receipts_table,
            FilterExpression=condition,
            ExpressionAttributeValues=values,
            ProjectionExpression="pk, tenantId, outbox.recordId",
            # A receipt that was accepted before the command was run has to be in it.
            ConsistentRead=True,
        )
        for page in pages:
            yield list(page["Items"])

    def _present(self, keys: Sequence[str]) -> set[str]:
        wanted: Any = {
            self._records_table: {
                "Keys": [{"pk": {"S": key}} for key in keys],
                "ProjectionExpression": "pk",
                "ConsistentRead": True,
            }
        }
        present: set[str] = set()
        while wanted:
            answer = self._client.batch_get_item(RequestItems=wanted)
            present |= {item["pk"]["S"] for item in answer["Responses"].get(self._records_table, [])}
            # What a throttle left over; botocore's own back-off applies when all of it was.
            wanted = answer.get("UnprocessedKeys")
        return present


def _record_key(receipt: Item) -> str | None:
    try:
        return partition_key(receipt["tenantId"]["S"], receipt["outbox"]["M"]["recordId"]["S"])
    except KeyError:
        return None


def _missing(receipt: Item) -> Missing:
    return Missing(receipt["pk"]["S"], receipt["tenantId"]["S"])
