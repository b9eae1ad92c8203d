"""The tenants' topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import boto3

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.domain.errors import Refused

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sns.type_defs import MessageAttributeValueTypeDef

    from handlers.domain.outbox import Announced

SERVICE: Final = "topics"
"""What errors of this adapter call it."""
# Not the topic says so: the message is at fault, and with it whoever made it (SNS's API reference, Publish,
# and botocore, before it asks).
_OF_THE_MESSAGE: Final = frozenset(
    {"InvalidParameter", "InvalidParameterValue", "ParamValidationError", "ValidationException"}
)


def refuses(error: Exception) -> bool:
    """Whether it is one tenant's topic that said no: gone, or it (or its key) does not let us publish."""
    return isinstance(error, Refused) and error.service == SERVICE and error.reason not in _OF_THE_MESSAGE


class SnsTopics:
    """Every tenant's topic: its ARN is the prefix and the tenant id, so that nothing has to be looked up."""

    def __init__(self, arn_prefix: str, client: SNSClient | None = None) -> None:
        self._arn_prefix = arn_prefix
        self._client: SNSClient = client or boto3.client("sns", config=CLIENT_CONFIG)

    def publish(self, announced: Announced, event: str) -> None:
        """Publish `event` (a CloudEvent, JSON text) on the topic of its tenant.

        Its message attributes are for subscribers' filter policies.

        Raises:
            Refused: there is no such topic, or it (or its key) does not let us publish.
            Unavailable: whether it was published is unknown.
        """
        with translated(SERVICE):
            self._client.publish(
                TopicArn=f"{self._arn_prefix}{announced.tenant_id}",
                Message=event,
                MessageAttributes={
                    "tenantId": _string(announced.tenant_id),
                    "type": _string(announced.type),
                    "eventId": _string(announced.event_id),
                },
            )


def _string(value: str) -> MessageAttributeValueTypeDef:
    return {"DataType": "String", "StringValue": value}
