"""Batches as Lambda hands them over: of a DynamoDB stream, and of an SQS queue.

Shapes from the Lambda Developer Guide ("Process Amazon DynamoDB records", "Process Amazon SQS messages").
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from handlers.adapters.receipt_item import to_item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handlers.domain.receipt import Receipt

_TABLE_ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/onceward-dev_receipts"


def sequence_number(position: int) -> str:
    """A stream's sequence number: 21 digits, growing."""
    return f"4421584500000000{position:05d}"


def inserted(position: int, new: Receipt) -> dict[str, Any]:
    """A receipt written where there was none."""
    return _change(position, "INSERT", new=new)


def modified(position: int, new: Receipt, old: Receipt) -> dict[str, Any]:
    """A receipt written over another, or updated."""
    return _change(position, "MODIFY", new=new, old=old)


def removed_by_ttl(position: int, old: Receipt) -> dict[str, Any]:
    """A receipt that TTL has deleted."""
    service = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    return _change(position, "REMOVE", old=old) | {"userIdentity": service}


def stream_batch(*records: dict[str, Any]) -> dict[str, Any]:
    """An invocation by the stream's mapping."""
    return {"Records": list(records)}


def queue_batch(bodies: Sequence[str]) -> dict[str, Any]:
    """An invocation by the queue's mapping; message ids are `message-0`, `message-1`, ..."""
    return {"Records": [_message(position, body) for position, body in enumerate(bodies)]}


def failed_ids(response: Any) -> list[str]:
    """The identifiers in a partial failure response, in its order."""
    return [failure["itemIdentifier"] for failure in response["batchItemFailures"]]


def _change(
    position: int, name: str, *, new: Receipt | None = None, old: Receipt | None = None
) -> dict[str, Any]:
    images = {"NewImage": new, "OldImage": old}
    items = {image: to_item(receipt) for image, receipt in images.items() if receipt is not None}
    keys = {"pk": next(iter(items.values()))["pk"]}
    return {
        "eventID": hashlib.md5(f"{name}{position}".encode(), usedforsecurity=False).hexdigest(),
        "eventName": name,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_796_000_000,
            "Keys": keys,
            **items,
            "SequenceNumber": sequence_number(position),
            "SizeBytes": 512,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
        "eventSourceARN": f"{_TABLE_ARN}/stream/2026-11-30T09:00:00.000",
    }


def _message(position: int, body: str) -> dict[str, Any]:
    return {
        "messageId": f"message-{position}",
        "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1796000000000",
            "SenderId": "AIDAIENQZJOLO23YVJ4VO",
            "ApproximateFirstReceiveTimestamp": "1796000000001",
        },
        "messageAttributes": {},
        "md5OfBody": hashlib.md5(body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:onceward-dev_dispatch-retry",
        "awsRegion": "us-east-1",
    }
