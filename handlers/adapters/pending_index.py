"""The index `pending` of the records table, and the mark that a piece of work is sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import boto3
from botocore.exceptions import ClientError

from handlers.adapters.aws import CLIENT_CONFIG, code_of, translated
from handlers.domain.keys import partition_key
from handlers.domain.pending import Page, PendingWork
from handlers.domain.work import BY_OPERATION
from handlers.domain.work_message import WorkMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

_SERVICE: Final = "records"
INDEX: Final = "pending"
# An item of the index is some 300 bytes, so a page costs four read units (halved: not consistent).
PAGE_ITEMS: Final = 100

# The mark's condition, part by part; each closes one race.
# The index is behind the table: what is done or failed has left it, what is gone must not be made anew, and
# what failed and came back is pending since another time.
_STILL_PENDING: Final = "pendingSince = :since"
# Of two reconcilers (or one that is called twice) the first to mark sends, and the other sees its mark.
_NEVER_REQUEUED: Final = "attribute_not_exists(requeuedAt)"
_REQUEUED_WHEN_SEEN: Final = "requeuedAt = :seen"
# A worker is at it: its message is in hand, and comes again by itself.
_NOBODY_AT_IT: Final = "(attribute_not_exists(workLeaseUntil) OR workLeaseUntil < :now)"
# A worker was at it a moment ago, and failed: its message waits for the next attempt.
_QUIET: Final = "updatedAt <= :quiet"
_MARK: Final = "SET requeuedAt = :now ADD requeues :one"
_GIVE_UP: Final = (
    "SET #status = :failed, updatedAt = :now REMOVE pendingShard, pendingSince, requeuedAt, requeues"
)


class DynamoDbPending:
    """`PendingIndex` on DynamoDB."""

    def __init__(self, table: str, client: DynamoDBClient | None = None) -> None:
        self._table = table
        self._client: DynamoDBClient = client or boto3.client("dynamodb", config=CLIENT_CONFIG)

    def page(self, shard: str, start: object | None) -> Page:
        """See `PendingIndex.page`. One Query, oldest first."""
        asked: dict[str, Any] = {} if start is None else {"ExclusiveStartKey": start}
        with translated(_SERVICE):
            answer = self._client.query(
                TableName=self._table,
                IndexName=INDEX,
                KeyConditionExpression="pendingShard = :shard",
                ExpressionAttributeValues={":shard": {"S": shard}},
                Limit=PAGE_ITEMS,
                **asked,
            )
        found = [_pending_in(item) for item in answer["Items"]]
        readable = tuple(work for work in found if work is not None)
        return Page(readable, len(found) - len(readable), answer.get("LastEvaluatedKey"))

    def mark_requeued(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
        """See `PendingIndex.mark_requeued`.

        A mark whose answer was lost and that the SDK sends again is refused: nothing is sent until the next
        period, when it is due once more.
        """
        marked, _ = self._update(
            work, now_ms, quiet_since_ms, {"UpdateExpression": _MARK}, {":one": _number(1)}
        )
        return marked

    def give_up(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
        """See `PendingIndex.give_up`."""
        failed: AttributeValueTypeDef = {"S": BY_OPERATION[work.message.operation].failed}
        change = {"UpdateExpression": _GIVE_UP, "ExpressionAttributeNames": {"#status": "status"}}
        done, item = self._update(work, now_ms, quiet_since_ms, change, {":failed": failed})
        # Refused, and it is as we would have made it: this very write, sent again after a lost answer.
        return done or (item.get("status") == failed and item.get("updatedAt") == _number(now_ms))

    def _update(
        self,
        work: PendingWork,
        now_ms: int,
        quiet_since_ms: int,
        change: Mapping[str, Any],
        more: Mapping[str, AttributeValueTypeDef],
    ) -> tuple[bool, dict[str, AttributeValueTypeDef]]:
        """Whether it took effect; the item that refused it (empty: none did, or there is none)."""
        values: dict[str, AttributeValueTypeDef] = {
            ":since": _number(work.since),
            ":now": _number(now_ms),
            ":quiet": _number(quiet_since_ms),
            **more,
        }
        as_seen = _NEVER_REQUEUED
        if work.requeued_at is not None:
            as_seen, values[":seen"] = _REQUEUED_WHEN_SEEN, _number(work.requeued_at)
        with translated(_SERVICE):
            try:
                self._client.update_item(
                    TableName=self._table,
                    Key={"pk": {"S": partition_key(work.message.tenant_id, work.message.record_id)}},
                    ConditionExpression=f"{_STILL_PENDING} AND {as_seen} AND {_NOBODY_AT_IT} AND {_QUIET}",
                    ExpressionAttributeValues=values,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **change,
                )
            except ClientError as error:
                if code_of(error) != "ConditionalCheckFailedException":
                    raise
                return False, cast("dict[str, Any]", error.response).get("Item") or {}
        return True, {}


def _pending_in(item: Mapping[str, Any]) -> PendingWork | None:
    try:
        message = WorkMessage(
            item["tenantId"]["S"],
            item["operation"]["S"],
            item["recordId"]["S"],
            item["eventId"]["S"],
            item["correlationId"]["S"],
        )
        requeued = item.get("requeuedAt")
        return PendingWork(
            message,
            since=int(item["pendingSince"]["N"]),
            requeued_at=int(requeued["N"]) if requeued else None,
            requeues=int(item.get("requeues", {}).get("N", "0")),
        )
    except (KeyError, TypeError, ValueError):
        # It must not hide all the work behind it.
        return None


def _number(value: int) -> AttributeValueTypeDef:
    return {"N": str(value)}
