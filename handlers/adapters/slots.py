"""The slots table: what can be taken once, by one generation of one request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import ClientError

from handlers.adapters.aws import CLIENT_CONFIG, code_of, translated
from handlers.domain.keys import partition_key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

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

    def take(self, tenant_id: str, slot: str, generation: str, record_id: str) -> bool:
        """See `SlotStore.take`. One PutItem, no read."""
        with translated(_SERVICE):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item={
                        "pk": {"S": partition_key(tenant_id, slot)},
                        "generation": {"S": generation},
                        "recordId": {"S": record_id},
                    },
                    ConditionExpression=TAKE_CONDITION,
                    ExpressionAttributeValues={":generation": {"S": generation}},
                )
            except ClientError as error:
                if code_of(error) == "ConditionalCheckFailedException":
                    return False
                raise
        return True
