"""The slots table: what can be taken once, by one generation of one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import ClientError

from handlers.adapters.aws import CLIENT_CONFIG, code_of, translated
from handlers.domain.errors import CorruptItem
from handlers.domain.keys import partition_key
from handlers.domain.operation import Booking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

_SERVICE = "slots"
# The condition, part by part. Nobody has the slot: of many at once, one gets it.
_FREE = "attribute_not_exists(pk)"
# Or this very request has it: an attempt whose answer was lost, or that crashed before it could complete,
# left it there, and its successor (same claim, same generation) must not be told that it is taken.
_OWN = "generation = :generation"
TAKE_CONDITION = f"{_FREE} OR {_OWN}"


class DynamoDbSlots:
    """`SlotStore` on DynamoDB."""

    def __init__(self, table: str, client: DynamoDBClient | None = None) -> None:
        self._table = table
        self._client: DynamoDBClient = client or boto3.client("dynamodb", config=CLIENT_CONFIG)

    def take(self, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
        """See `SlotStore.take`. One PutItem; refused, it brings the booking back that stands there."""
        with translated(_SERVICE):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item={"pk": {"S": partition_key(tenant_id, slot)}, **_to_item(booking)},
                    ConditionExpression=TAKE_CONDITION,
                    ExpressionAttributeValues={":generation": {"S": booking.generation}},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if code_of(error) != "ConditionalCheckFailedException":
                    raise
                there: Any = error.response.get("Item") or {}
                return from_item(there)
        return None


def from_item(item: Mapping[str, Any]) -> Booking:
    """The booking in an item of the slots table.

    Raises:
        CorruptItem: it is none. It names the attribute, never what is stored there.
    """
    generation, record_id = _text(item, "generation"), _text(item, "recordId")
    holder = _text(item, "holder") if "holder" in item else None
    return Booking(generation, record_id, holder)


def _to_item(booking: Booking) -> dict[str, AttributeValueTypeDef]:
    item: dict[str, AttributeValueTypeDef] = {
        "generation": {"S": booking.generation},
        "recordId": {"S": booking.record_id},
    }
    return item if booking.holder is None else {**item, "holder": {"S": booking.holder}}


def _text(item: Mapping[str, Any], name: str) -> str:
    attribute = item.get(name)
    value = attribute.get("S") if isinstance(attribute, dict) else None
    if not isinstance(value, str):
        raise CorruptItem(f"an item of the slots table is no booking: {name}")
    return value
