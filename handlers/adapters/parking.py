"""The retry queue: where a record that fails for its own reasons waits, whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import boto3

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.adapters.work_queue import SqsPauses
from handlers.domain.caller import TENANT_ID
from handlers.domain.errors import CorruptItem
from handlers.domain.json_text import parsed
from handlers.domain.message_text import for_a_message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mypy_boto3_sqs import SQSClient

_SERVICE: Final = "retry queue"
# The pauses between the attempts at a message: a minute, doubled each time, two hours at the most. A blip
# costs little, and the queue's 20 receives (infra.components.queues) span 26 hours: an outage of a working
# day, or a right that somebody has to find missing, ends before they do.
_FIRST_PAUSE_SECONDS: Final = 60
_LONGEST_PAUSE_SECONDS: Final = 2 * 3600


@dataclass(frozen=True, slots=True)
class Parked:
    """A message of the retry queue.

    Attributes:
        image: the receipt, as the stream brought it (DynamoDB JSON).
        republish: an operator wants its event published once more, even where its work is done.
    """

    image: Mapping[str, Any]
    republish: bool


class RetryQueue:
    """The `dispatch-retry` queue. Its redrive policy ends in the `dispatch-dlq` queue."""

    def __init__(self, queue_url: str, client: SQSClient | None = None) -> None:
        self._queue_url = queue_url
        self._client: SQSClient = client or boto3.client("sqs", config=CLIENT_CONFIG)

    def park(
        self, image: Mapping[str, Any], error: str, parked_at_ms: int, *, republish: bool = False
    ) -> None:
        """Queue `image`, the receipt as the stream brought it (DynamoDB JSON), for another attempt.

        The image, not the receipt's key: what the key holds by then may be another window's receipt, or
        nothing. The queue is encrypted as the tables are, since the image holds the payload. Its tenant is
        the message group, as on the queues of work: one tenant's faults do not stand before another's.

        Raises:
            Unavailable: whether it was queued is unknown.
            Refused: the queue does not take it.
        """
        group = _tenant_in(image)
        body = to_body(image, error, parked_at_ms, republish=republish)
        with translated(_SERVICE):
            if group is None:
                self._client.send_message(QueueUrl=self._queue_url, MessageBody=body)
            else:
                self._client.send_message(QueueUrl=self._queue_url, MessageBody=body, MessageGroupId=group)

    def back_off(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Hide `messages` (SQS records as Lambda brings them) for as long as their number of receives asks.

        Raises:
            Unavailable, Refused: some stay hidden only for the queue's own visibility timeout.
        """
        pauses = {
            one["receiptHandle"]: pause_seconds(int(one["attributes"]["ApproximateReceiveCount"]))
            for one in messages
        }
        SqsPauses(self._queue_url, self._client).hide(pauses)


def pause_seconds(receives: int) -> int:
    """How long a message waits after its attempt number `receives` (from 1), seconds."""
    # The exponent is bounded too: an operator may have set another number of receives.
    doublings = min(receives - 1, 16)
    return min(_FIRST_PAUSE_SECONDS << doublings, _LONGEST_PAUSE_SECONDS)


def to_body(image: Mapping[str, Any], error: str, parked_at_ms: int, *, republish: bool = False) -> str:
    """`{"image": ..., "error": ..., "parkedAt": ms}`, with `"republish": true` where that is asked for.

    Unescaped: escapes could outgrow the queue's limit.
    """
    parked = {"image": image, "error": error, "parkedAt": parked_at_ms}
    if republish:
        parked["republish"] = True
    return for_a_message(json.dumps(parked, ensure_ascii=False, separators=(",", ":")))


def parked_in(body: str) -> Parked:
    """What a message of the retry queue says.

    Raises:
        CorruptItem: the message was not written by `park`.
    """
    try:
        message: Any = parsed(body)
        image = message["image"]
    except (ValueError, KeyError, TypeError):
        raise CorruptItem("a message of the retry queue holds no image") from None
    if not isinstance(image, dict):
        raise CorruptItem("a message of the retry queue holds no image")
    return Parked(image, republish=message.get("republish") is True)


def _tenant_in(image: Mapping[str, Any]) -> str | None:
    # An image may be parked because it is malformed, in any way.
    attribute = image.get("tenantId")
    tenant_id = attribute.get("S") if isinstance(attribute, dict) else None
    return tenant_id if isinstance(tenant_id, str) and TENANT_ID.fullmatch(tenant_id) else None
