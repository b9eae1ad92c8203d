"""The receipts table: one conditional write decides, and the refused write brings the winner back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import ClientError

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.adapters.receipt_item import from_item, to_item
from handlers.domain.errors import Unavailable
from handlers.domain.ports import Held, Written

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    from handlers.domain.ports import PutOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt

# The claim's condition, part by part; each closes one race.
# Nobody was here before: of N first attempts at once DynamoDB lets one through.
_NOBODY = "attribute_not_exists(pk)"
# TTL deletes late (up to 48 h and more), so the window's end is judged by the item, not by its absence; and
# by the request's arrival, which the decision uses too, so that both see the same window.
_WINDOW_OVER = "expiresAt <= :arrival"
# An answered request may be forgotten when its window is over ...
_ANSWERED = "#status = :completed"
# ... an unfinished one only when its owner cannot be running any more (it could still complete) ...
_LEASE_LAPSED = "leaseUntil < :clock"
# ... and only for another request: the same request must take the claim over with its generation, or its
# effect could happen twice.
_ANOTHER_REQUEST = "fingerprint <> :fingerprint"
CLAIM_CONDITION = (
    f"{_NOBODY} OR ({_WINDOW_OVER} AND {_ANSWERED})"
    f" OR ({_WINDOW_OVER} AND {_LEASE_LAPSED} AND {_ANOTHER_REQUEST})"
)

_SERVICE = "receipts"


class DynamoDbReceipts:
    """`ReceiptStore` on DynamoDB."""

    def __init__(self, table: str, client: DynamoDBClient | None = None) -> None:
        self._table = table
        self._client: DynamoDBClient = client or boto3.client("dynamodb", config=CLIENT_CONFIG)

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        """See `ReceiptStore.put`. One PutItem; a duplicate costs the write units of the stored item."""
        with translated(_SERVICE):
            try:
                answer = self._client.put_item(
                    TableName=self._table,
                    Item=to_item(receipt),
                    ConditionExpression=CLAIM_CONDITION,
                    # `status` is a reserved word of DynamoDB's expressions.
                    ExpressionAttributeNames={"#status": "status"},
                    ExpressionAttributeValues=_values(claim),
                    ReturnValues="ALL_OLD",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                return Held(from_item(_winner(error)))
        replaced = answer.get("Attributes", {})
        return Written(abandoned=replaced.get("status") == {"S": "IN_PROGRESS"})


def _values(claim: Claim) -> dict[str, AttributeValueTypeDef]:
    return {
        ":arrival": {"N": str(claim.arrival_ms)},
        ":clock": {"N": str(claim.clock_ms)},
        ":completed": {"S": "COMPLETED"},
        ":fingerprint": {"S": claim.fingerprint},
    }


def _winner(error: ClientError) -> dict[str, AttributeValueTypeDef]:
    """The item that refused the write; re-raises whatever is not a refused condition."""
    if error.response.get("Error", {}).get("Code") != "ConditionalCheckFailedException":
        raise error
    item: dict[str, AttributeValueTypeDef] | None = error.response.get("Item")  # type: ignore[assignment]
    if not item:
        # Gone between the check and the answer, or not returned: we know nothing, so we claim nothing.
        raise Unavailable(_SERVICE, "the refused write brought no item back")
    return item
