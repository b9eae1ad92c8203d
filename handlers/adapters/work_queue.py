"""The queues of work: `orders` and `webhooks`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import boto3

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.domain.errors import Refused
from handlers.domain.work_message import CORRELATION_ATTRIBUTE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageAttributeValueTypeDef

    from handlers.domain.work_message import WorkMessage

_SERVICE: Final = "work queue"
# ChangeMessageVisibility hides for twelve hours at the most (SQS API reference).
_LONGEST_SECONDS: Final = 12 * 3600


class SqsWorkQueues:
    """Where work is sent. `urls`: the queue by the operation whose work it takes."""

    def __init__(self, urls: Mapping[str, str], client: SQSClient | None = None) -> None:
        self._urls = urls
        self._client: SQSClient = client or boto3.client("sqs", config=CLIENT_CONFIG)

    def send(self, message: WorkMessage) -> None:
        """Queue a piece of work.

        The message group makes the queue a fair one (SQS developer guide, "fair queues"): a tenant with a
        backlog does not make the others wait. It orders nothing on a standard queue.

        Raises:
            Unavailable: whether it was queued is unknown.
            Refused: the queue does not take it.
        """
        with translated(_SERVICE):
            self._client.send_message(
                QueueUrl=self._urls[message.operation],
                MessageBody=message.body(),
                MessageGroupId=message.tenant_id,
                MessageAttributes={
                    "tenantId": _string(message.tenant_id),
                    "operation": _string(message.operation),
                    CORRELATION_ATTRIBUTE: _string(message.correlation_id),
                },
            )


class SqsPauses:
    """What a worker says to its queue of messages that it did not finish."""

    def __init__(self, queue_url: str, client: SQSClient | None = None) -> None:
        self._queue_url = queue_url
        self._client: SQSClient = client or boto3.client("sqs", config=CLIENT_CONFIG)

    def hide(self, pauses: Mapping[str, int]) -> None:
        """Hide messages, by receipt handle, for so many seconds from now.

        Raises:
            Unavailable, Refused: some stay hidden for the queue's own visibility timeout.
        """
        # One by one, though AWS has a batch call under the same right: the local AWS asks for a right of the
        # batch call's own name, which IAM does not have, and the retries would wait for the queue's timeout.
        # Few fail, and an outage ends the loop with its first call. One that is refused (its handle is
        # too old, say) leaves the others alone.
        refused: Refused | None = None
        for handle, seconds in pauses.items():
            try:
                self._hide(handle, seconds)
            except Refused as error:
                refused = error
        if refused is not None:
            raise refused

    def _hide(self, handle: str, seconds: int) -> None:
        with translated(_SERVICE):
            self._client.change_message_visibility(
                QueueUrl=self._queue_url,
                ReceiptHandle=handle,
                VisibilityTimeout=min(seconds, _LONGEST_SECONDS),
            )


def _string(value: str) -> MessageAttributeValueTypeDef:
    return {"DataType": "String", "StringValue": value}
