"""The retry queue: where a record that fails for its own reasons waits, whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import boto3

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.domain.errors import CorruptItem
from handlers.domain.message_text import for_a_message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import ChangeMessageVisibilityBatchRequestEntryTypeDef

_SERVICE: Final = "retry queue"
# The pauses between the attempts at a message: a minute, doubled each time, two hours at the most. A blip
# costs little, and the queue's 20 receives (infra.components.queues) span 26 hours: an outage of a working
# day, or a right that somebody has to find missing, ends before they do.
_FIRST_PAUSE_SECONDS: Final = 60
_LONGEST_PAUSE_SECONDS: Final = 2 * 3600
# ChangeMessageVisibilityBatch takes ten (SQS API reference).
_BATCH: Final = 10


class RetryQueue:
    """The `dispatch-retry` queue. Its redrive policy ends in the `dispatch-dlq` queue."""

    def __init__(self, queue_url: str, client: SQSClient | None = None) -> None:
        self._queue_url = queue_url
        self._client: SQSClient = client or boto3.client("sqs", config=CLIENT_CONFIG)

    def park(self, image: Mapping[str, Any], error: str, parked_at_ms: int) -> None:
        """Queue `image`, the receipt as the stream brought it (DynamoDB JSON), for another attempt.

        The image, not the receipt's key: what the key holds by then may be another window's receipt, or
        nothing. The queue is encrypted as the tables are, since the image holds the payload.

        Raises:
            Unavailable: whether it was queued is unknown.
            Refused: the queue does not take it.
        """
        with translated(_SERVICE):
            self._client.send_message(
                QueueUrl=self._queue_url, MessageBody=to_body(image, error, parked_at_ms)
            )

    def back_off(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Hide `messages` (SQS records as Lambda brings them) for as long as their number of receives asks.

        Raises:
            Unavailable, Refused: some stay hidden only for the queue's own visibility timeout.
        """
        for start in range(0, len(messages), _BATCH):
            entries = [_entry(place, one) for place, one in enumerate(messages[start : start + _BATCH])]
            with translated(_SERVICE):
                self._client.change_message_visibility_batch(QueueUrl=self._queue_url, Entries=entries)


def pause_seconds(receives: int) -> int:
    """How long a message waits after its attempt number `receives` (from 1), seconds."""
    # The exponent is bounded too: an operator may have set another number of receives.
    doublings = min(receives - 1, 16)
    return min(_FIRST_PAUSE_SECONDS << doublings, _LONGEST_PAUSE_SECONDS)


def to_body(image: Mapping[str, Any], error: str, parked_at_ms: int) -> str:
    """`{"image": ..., "error": ..., "parkedAt": ms}`, unescaped: escapes could outgrow the queue's limit."""
    parked = {"image": image, "error": error, "parkedAt": parked_at_ms}
    return for_a_message(json.dumps(parked, ensure_ascii=False, separators=(",", ":")))


def image_in(body: str) -> Mapping[str, Any]:
    """The image in a message of the retry queue.

    Raises:
        CorruptItem: the message was not written by `park`.
    """
    try:
        image = json.loads(body)["image"]
    except (ValueError, KeyError, TypeError):
        raise CorruptItem("a message of the retry queue holds no image") from None
    if not isinstance(image, dict):
        raise CorruptItem("a message of the retry queue holds no image")
    return image


def _entry(place: int, message: Mapping[str, Any]) -> ChangeMessageVisibilityBatchRequestEntryTypeDef:
    return {
        "Id": str(place),
        "ReceiptHandle": message["receiptHandle"],
        "VisibilityTimeout": pause_seconds(int(message["attributes"]["ApproximateReceiveCount"])),
    }
