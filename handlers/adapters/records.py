"""The records table: business objects, written once and read by their id."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import ClientError

from handlers.adapters.aws import CLIENT_CONFIG, code_of, translated
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from handlers.domain.keys import partition_key
from handlers.domain.outbox import Delivery, DispatchConflict
from handlers.domain.work import BY_OPERATION, pending_shard, with_status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

_SERVICE = "records"
# The one refusal of a PutItem that is about the item; all others (no permission, no table, a disabled key)
# are about the table, which all tenants share.
_ABOUT_THE_ITEM = "ValidationException"


class DynamoDbRecords:
    """The records table."""

    def __init__(
        self,
        table: str,
        client: DynamoDBClient | None = None,
        clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._table = table
        self._client: DynamoDBClient = client or boto3.client("dynamodb", config=CLIENT_CONFIG)
        self._clock_ms = clock_ms

    def write(self, delivery: Delivery) -> str | None:
        """Write the record of `delivery`, unless a delivery of the same event has done so.

        Answers the status of the record that was there; None when there was none, or none with work.

        Raises:
            DispatchConflict: another event has written this id.
            Refused: the table does not take this item.
            Unavailable: the table cannot be written, for this item as for any other.
        """
        try:
            with translated(_SERVICE):
                return self._put(delivery)
        except Refused as error:
            if error.reason == _ABOUT_THE_ITEM:
                raise
            # Parking one record after another would move the whole stream to the retry queue for a fault that
            # the records did not make; the stream keeps them for a day.
            raise Unavailable(_SERVICE, error.reason) from error

    def document(self, tenant_id: str, operation: str, record_id: str) -> str | None:
        """The record's JSON text as it was accepted, or None when this tenant's operation has no such record.

        Where work follows from the record, how far that is stands in a last member, `status`.

        Raises:
            Unavailable, Refused: the table cannot be read.
            CorruptItem: the item is no record.
        """
        with translated(_SERVICE):
            answer = self._client.get_item(
                TableName=self._table,
                Key={"pk": {"S": partition_key(tenant_id, record_id)}},
                # The caller may have its 201 in hand: a replica that lags would say that it was nothing.
                ConsistentRead=True,
                ProjectionExpression="document, operation, #status",
                ExpressionAttributeNames={"#status": "status"},
            )
        item = answer.get("Item")
        # All operations share the table, and a key that may read the one may not read the other.
        if item is None or item.get("operation") != {"S": operation}:
            return None
        if "S" not in item.get("document", {}):
            raise CorruptItem("an item of the records table has no document")
        document, status = item["document"]["S"], item.get("status")
        return document if status is None else with_status(document, status["S"])

    def _put(self, delivery: Delivery) -> str | None:
        try:
            self._client.put_item(
                TableName=self._table,
                Item=to_item(delivery, self._clock_ms()),
                ConditionExpression="attribute_not_exists(pk)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            if code_of(error) != "ConditionalCheckFailedException":
                raise
            # Ours: an earlier delivery wrote it, or this call did and its answer was lost.
            existing = _of_same_event(error.response.get("Item"), delivery)
            return None if "status" not in existing else str(existing["status"]["S"])
        return None


def to_item(delivery: Delivery, now_ms: int) -> dict[str, AttributeValueTypeDef]:
    """The record of `delivery` as a DynamoDB item; if work follows, with status and place in the index.

    `now_ms`: when it is written. After an outage of the stream that is long after it was accepted, and the
    message that `dispatch` is about to send must not be taken for lost.
    """
    return (
        _work_to_follow(delivery, now_ms)
        | _kept_until(delivery)
        | {
            "pk": {"S": partition_key(delivery.tenant_id, delivery.record_id)},
            "tenantId": {"S": delivery.tenant_id},
            "recordId": {"S": delivery.record_id},
            "eventId": {"S": delivery.event_id},
            "operation": {"S": delivery.operation},
            "type": {"S": delivery.type},
            "document": {"S": delivery.document},
            "correlationId": {"S": delivery.correlation_id},
            "createdAt": {"N": str(delivery.created_at)},
        }
    )


def from_item(item: Mapping[str, Any]) -> Delivery:
    """What a record was written for.

    Raises:
        CorruptItem: it lacks what every record has.
    """
    try:
        return Delivery(
            tenant_id=item["tenantId"]["S"],
            operation=item["operation"]["S"],
            event_id=item["eventId"]["S"],
            type=item["type"]["S"],
            record_id=item["recordId"]["S"],
            document=item["document"]["S"],
            correlation_id=item["correlationId"]["S"],
            created_at=int(item["createdAt"]["N"]),
            purge_at=int(item["purgeAt"]["N"]) if "purgeAt" in item else None,
        )
    except (KeyError, TypeError, ValueError):
        raise CorruptItem("an item of the records table lacks what every record has") from None


def _kept_until(delivery: Delivery) -> dict[str, AttributeValueTypeDef]:
    return {} if delivery.purge_at is None else {"purgeAt": {"N": str(delivery.purge_at)}}


def _work_to_follow(delivery: Delivery, now_ms: int) -> dict[str, AttributeValueTypeDef]:
    work = BY_OPERATION.get(delivery.operation)
    if work is None:
        return {}
    return {
        "status": {"S": work.waiting},
        "updatedAt": {"N": str(now_ms)},
        "pendingShard": {"S": pending_shard(delivery.operation, delivery.record_id)},
        "pendingSince": {"N": str(delivery.created_at)},
    }


def _of_same_event(existing: object, delivery: Delivery) -> Mapping[str, Any]:
    if not isinstance(existing, dict) or not existing:
        raise Unavailable(_SERVICE, "the refused write brought no item back")
    if existing.get("eventId") != {"S": delivery.event_id}:
        raise DispatchConflict(f"record {delivery.record_id} was written by another event")
    return existing
