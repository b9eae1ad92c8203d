"""Work on the records table: claim, finish and fail are one conditional UpdateItem of the record each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import boto3
from botocore.exceptions import ClientError

from handlers.adapters.aws import CLIENT_CONFIG, code_of, translated
from handlers.adapters.records import from_item
from handlers.domain.keys import partition_key
from handlers.domain.work import pending_shard
from handlers.domain.work_item import Claimed, WorkItem, decide

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    from handlers.domain.work_item import ClaimOutcome, WorkClaim

_SERVICE: Final = "records"
# The claim's condition, part by part; each closes one race.
# UpdateItem makes what is not there: a message whose record is gone, or another event's, must make nothing.
_OF_THIS_EVENT: Final = "eventId = :event"
# The queue delivers twice, and the reconciler sends again: what is done stays done.
_NOT_DONE: Final = "#status <> :done"
# Two messages of one piece of work at two workers: the second waits until the first cannot be at it any more.
_NOBODY_AT_IT: Final = "(attribute_not_exists(workLeaseUntil) OR workLeaseUntil < :now)"
CLAIM_CONDITION: Final = f"{_OF_THIS_EVENT} AND {_NOT_DONE} AND {_NOBODY_AT_IT}"
# Whoever was too slow must not mark what its successor is at (or has finished).
STILL_OURS: Final = "workOwner = :me"

# Work that failed had left the index of pending work; a redrive brings it back there.
_CLAIM: Final = (
    "SET #status = :running, workOwner = :me, workLeaseUntil = :lease, updatedAt = :now,"
    " pendingShard = if_not_exists(pendingShard, :shard), pendingSince = if_not_exists(pendingSince, :now)"
    " ADD attempts :one"
)
_FINISH: Final = (
    "SET #status = :done, updatedAt = :now REMOVE workOwner, workLeaseUntil, pendingShard, pendingSince"
)
# The owner stays, so that this write, sent again after a lost answer, finds its condition as it was.
_FAIL: Final = "SET #status = :status, workLeaseUntil = :nobody, updatedAt = :now"
_FAIL_FOR_GOOD: Final = f"{_FAIL} REMOVE pendingShard, pendingSince"


class DynamoDbWork:
    """`WorkStore` on the records table."""

    def __init__(self, table: str, client: DynamoDBClient | None = None) -> None:
        self._table = table
        self._client: DynamoDBClient = client or boto3.client("dynamodb", config=CLIENT_CONFIG)

    def claim(self, claim: WorkClaim) -> ClaimOutcome:
        """See `WorkStore.claim`; the answer brings the document, so there is no read."""
        message = claim.message
        values: dict[str, AttributeValueTypeDef] = {
            ":event": {"S": message.event_id},
            ":done": {"S": claim.work.done},
            ":running": {"S": claim.work.running},
            ":me": {"S": claim.owner},
            ":now": {"N": str(claim.now_ms)},
            ":lease": {"N": str(claim.lease_until)},
            ":shard": {"S": pending_shard(message.operation, message.record_id)},
            ":one": {"N": "1"},
        }
        taken, item = self._update(claim, _CLAIM, CLAIM_CONDITION, values)
        if taken:
            return Claimed(work_item_of(item))
        return decide(work_item_of(item) if item else None, claim)

    def finish(self, claim: WorkClaim, now_ms: int) -> bool:
        """See `WorkStore.finish`."""
        values: dict[str, AttributeValueTypeDef] = {
            ":me": {"S": claim.owner},
            ":done": {"S": claim.work.done},
            ":now": {"N": str(now_ms)},
        }
        finished, item = self._update(claim, _FINISH, STILL_OURS, values)
        # Refused and done: this very write, sent again after a lost answer, or a successor that was faster.
        # Either way nothing is left to do.
        return finished or item.get("status") == {"S": claim.work.done}

    def fail(self, claim: WorkClaim, now_ms: int, *, final: bool) -> None:
        """See `WorkStore.fail`."""
        values: dict[str, AttributeValueTypeDef] = {
            ":me": {"S": claim.owner},
            ":status": {"S": claim.work.failed if final else claim.work.running},
            ":nobody": {"N": "0"},
            ":now": {"N": str(now_ms)},
        }
        self._update(claim, _FAIL_FOR_GOOD if final else _FAIL, STILL_OURS, values)

    def _update(
        self, claim: WorkClaim, change: str, condition: str, values: Mapping[str, AttributeValueTypeDef]
    ) -> tuple[bool, dict[str, AttributeValueTypeDef]]:
        """Whether it took effect, and the item: as it is now, or as it refused (empty: there is none)."""
        with translated(_SERVICE):
            try:
                answer = self._client.update_item(
                    TableName=self._table,
                    Key={"pk": {"S": partition_key(claim.message.tenant_id, claim.message.record_id)}},
                    UpdateExpression=change,
                    ConditionExpression=condition,
                    ExpressionAttributeNames={"#status": "status"},  # a reserved word of expressions
                    ExpressionAttributeValues=values,
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if code_of(error) != "ConditionalCheckFailedException":
                    raise
                return False, cast("dict[str, Any]", error.response).get("Item") or {}
        return True, answer["Attributes"]


def work_item_of(item: Mapping[str, Any]) -> WorkItem:
    """The record with work in a DynamoDB item; raises CorruptItem."""
    delivery = from_item(item)
    owner: str | None = item.get("workOwner", {}).get("S")
    return WorkItem(
        delivery=delivery,
        status=str(item.get("status", {}).get("S", "")),
        attempts=_number(item, "attempts"),
        owner=owner,
        lease_until=_number(item, "workLeaseUntil"),
    )


def _number(item: Mapping[str, Any], name: str) -> int:
    return int(item.get(name, {}).get("N", "0"))
