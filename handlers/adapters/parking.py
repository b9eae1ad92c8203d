"""The retry queue: where a record that fails for its own reasons waits, whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.domain.errors import CorruptItem
from handlers.domain.message_text import for_a_message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_sqs import SQSClient


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
        with translated("retry queue"):
            self._client.send_message(
                QueueUrl=self._queue_url, MessageBody=to_body(image, error, parked_at_ms)
            )


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
