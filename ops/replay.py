"""Driving receipts again: those whose record never came, or all of a time whose events may not have."""

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
class Window:
    """Which receipts are meant: accepted from `since` on and before `until`, of `tenant_id`; None for any."""

    since: datetime | None = None
    until: datetime | None = None
    tenant_id: str | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """A receipt to be driven again: its place in the receipts table, and whose it is.

    `republish`: its record is there, so what is wanted is its event, even where its work is done.
    """

    pk: str
    tenant_id: str
    republish: bool


@dataclass(slots=True)
class Found:
    """What a look over the receipts has found so far.

    `receipts`: with an outbox, in the window asked for. `corrupt`: those of them that name no record;
    `dispatch` has parked them, and they end in the dead-letter queue. `missing`: those without a record.
    `due`: those to be driven again.
    """

    receipts: int = 0
    corrupt: int = 0
    missing: int = 0
    due: list[Due] = field(default_factory=list)


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

    def look(self, window: Window, progress: Callable[[Found], None], *, republish: bool = False) -> Found:
        """Find the receipts of `window` that have an outbox and no record; with `republish`, with one too.

        Reads the whole receipts table: it has no index by time, which would cost every accepted request
        another write. Calls `progress` after each page.
        """
        found = Found()
        for page in self._pages(window):
            by_record = {key: receipt for receipt in page if (key := _record_key(receipt)) is not None}
            found.receipts += len(page)
            found.corrupt += len(page) - len(by_record)
            keys = list(by_record)
            for start in range(0, len(keys), _BATCH):
                batch = keys[start : start + _BATCH]
                present = self._present(batch)
                found.missing += len(batch) - len(present)
                found.due += [
                    _due(by_record[key], republish=key in present)
                    for key in batch
                    if republish or key not in present
                ]
            progress(found)
        return found

    def queue(self, due: Due, now_ms: int) -> bool:
        """Put the receipt on the retry queue, as the stream would have; False when it is gone by now."""
        # Read again: between look and queue an operator may have evicted it, or its key opened a new window
        # (whose own outbox the stream has brought; bringing it again is harmless).
        answer = self._client.get_item(
            TableName=self._receipts_table, Key={"pk": {"S": due.pk}}, ConsistentRead=True
        )
        image = answer.get("Item")
        if image is None or "outboxId" not in image:
            return False
        self._queue.park(image, REASON, now_ms, republish=due.republish)
        return True

    def _pages(self, window: Window) -> Iterator[list[Item]]:
        conditions, values = _filter(window)
        pages = self._client.get_paginator("scan").paginate(
            TableName=self._receipts_table,
            FilterExpression=" AND ".join(["attribute_exists(outboxId)", *conditions]),
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


def _due(receipt: Item, *, republish: bool) -> Due:
    return Due(receipt["pk"]["S"], receipt["tenantId"]["S"], republish)


def _filter(window: Window) -> tuple[list[str], dict[str, Any]]:
    conditions = ["createdAt >= :since"]
    values: dict[str, Any] = {":since": {"N": _ms(window.since) if window.since else "0"}}
    if window.until is not None:
        conditions.append("createdAt < :until")
        values[":until"] = {"N": _ms(window.until)}
    if window.tenant_id is not None:
        conditions.append("tenantId = :tenant")
        values[":tenant"] = {"S": window.tenant_id}
    return conditions, values


def _ms(moment: datetime) -> str:
    return str(int(moment.timestamp() * 1000))
