"""The receipts table: one conditional write decides, and the refused write brings the winner back."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import boto3
from botocore.exceptions import ClientError

from handlers.adapters.aws import CLIENT_CONFIG, code_of, translated
from handlers.adapters.receipt_item import from_item, result_attributes, to_item
from handlers.domain.errors import Unavailable
from handlers.domain.keys import partition_key
from handlers.domain.ports import Done, Gone, Held, TakenOver, Written
from handlers.domain.receipt import Status, purge_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    from handlers.domain.ports import OwnersOutcome, PutOutcome, TakeOverOutcome
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

# The conditions of whoever works on a claim, part by part.
# A completed claim is an answer: nothing may overwrite it, take it over or free it.
_UNFINISHED = "#status = :inProgress"
# Of all that saw the claim lapse, one takes it: the first changes the owner. It closes the race with the
# lapsed owner too, whose late complete either came first (the status refuses us) or finds another owner.
_STILL_THE_LAPSED_OWNERS = "#owner = :lapsedOwner"
TAKE_OVER_CONDITION = f"{_STILL_THE_LAPSED_OWNERS} AND {_UNFINISHED}"
# An owner that lost its lease while it worked changes nothing any more: its successor's claim is not freed
# for a third, its successor's answer is not overwritten, its checkpoint does not mislead.
_STILL_MINE = "#owner = :me"
OWNERS_CONDITION = f"{_STILL_MINE} AND {_UNFINISHED}"

_SERVICE = "receipts"
# Words that DynamoDB reserves in expressions, or may one day.
_NAMES = {"#status": "status", "#owner": "owner"}
_NO_MORE: Mapping[str, str] = MappingProxyType({})


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

    def take_over(self, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int) -> TakeOverOutcome:
        """See `ReceiptStore.take_over`. One UpdateItem."""
        values = {
            ":lapsedOwner": {"S": lapsed.owner},
            ":inProgress": {"S": Status.IN_PROGRESS.value},
            ":me": {"S": claim.owner},
            ":lease": {"N": str(lease_until)},
            ":expires": {"N": str(expires_at)},
            ":purge": {"N": str(purge_at(claim.clock_ms, expires_at))},
        }
        change = "SET #owner = :me, leaseUntil = :lease, expiresAt = :expires, purgeAt = :purge"
        taken = self._update(lapsed, change, TAKE_OVER_CONDITION, values, brings="ALL_NEW")
        if isinstance(taken, Held) and taken.existing.owner == claim.owner:
            # The SDK sent it twice: the first one took it over.
            return TakenOver(taken.existing)
        return TakenOver(from_item(taken)) if isinstance(taken, dict) else taken

    def checkpoint(self, owned: Receipt, text: str) -> OwnersOutcome:
        """See `ReceiptStore.checkpoint`. One UpdateItem; sent twice, it writes the same twice."""
        return self._owners(owned, "SET checkpoint = :checkpoint", {":checkpoint": {"S": text}})

    def complete(self, owned: Receipt) -> OwnersOutcome:
        """See `ReceiptStore.complete`. One UpdateItem; the checkpoint goes, nobody resumes any more."""
        values: dict[str, Any] = {
            ":status": {"S": Status.COMPLETED.value},
            ":lease": {"N": str(owned.lease_until)},
            ":expires": {"N": str(owned.expires_at)},
            ":purge": {"N": str(owned.purge_at)},
        }
        change = "SET #status = :status, leaseUntil = :lease, expiresAt = :expires, purgeAt = :purge"
        result = result_attributes(owned)
        for name, value in result.items():
            values[f":{name}"] = value
            change += f", #{name} = :{name}"
        names = {f"#{name}": name for name in result}
        outcome = self._owners(owned, f"{change} REMOVE checkpoint", values, names)
        if isinstance(outcome, Held) and _is_own_answer(outcome.existing, owned):
            # The SDK sent it twice: the first one completed it.
            return Done()
        return outcome

    def release(self, owned: Receipt) -> OwnersOutcome:
        """See `ReceiptStore.release`. One UpdateItem; sent twice, it writes the same twice.

        Never a delete: the generation has to stay, since what this attempt tried may yet take effect.
        """
        return self._owners(owned, "SET leaseUntil = :none", {":none": {"N": "0"}})

    def _owners(
        self, owned: Receipt, change: str, values: dict[str, Any], names: Mapping[str, str] = _NO_MORE
    ) -> OwnersOutcome:
        mine = {":me": {"S": owned.owner}, ":inProgress": {"S": Status.IN_PROGRESS.value}}
        outcome = self._update(owned, change, OWNERS_CONDITION, values | mine, names)
        return Done() if isinstance(outcome, dict) else outcome

    def _update(
        self,
        place: Receipt,
        change: str,
        condition: str,
        values: dict[str, Any],
        names: Mapping[str, str] = _NO_MORE,
        brings: Literal["ALL_NEW", "NONE"] = "NONE",
    ) -> dict[str, Any] | Held | Gone:
        """The item as it stands now, empty unless `brings` asks for it."""
        with translated(_SERVICE):
            try:
                answer = self._client.update_item(
                    TableName=self._table,
                    Key={"pk": {"S": partition_key(place.tenant_id, place.key)}},
                    UpdateExpression=change,
                    ConditionExpression=condition,
                    ExpressionAttributeNames={**_NAMES, **names},
                    ExpressionAttributeValues=values,
                    ReturnValues=brings,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                existing = _refused_by(error)
                return Held(from_item(existing)) if existing else Gone()
        return answer.get("Attributes", {})


def _is_own_answer(existing: Receipt, owned: Receipt) -> bool:
    return existing.owner == owned.owner and existing.status is Status.COMPLETED


def _values(claim: Claim) -> dict[str, AttributeValueTypeDef]:
    return {
        ":arrival": {"N": str(claim.arrival_ms)},
        ":clock": {"N": str(claim.clock_ms)},
        ":completed": {"S": "COMPLETED"},
        ":fingerprint": {"S": claim.fingerprint},
    }


def _refused_by(error: ClientError) -> dict[str, AttributeValueTypeDef] | None:
    """The item that refused the write, None if none stands there; re-raises what is no refused condition."""
    if code_of(error) != "ConditionalCheckFailedException":
        raise error
    return error.response.get("Item")  # type: ignore[return-value]


def _winner(error: ClientError) -> dict[str, AttributeValueTypeDef]:
    """The item that refused a claim."""
    item = _refused_by(error)
    if not item:
        # Gone between the check and the answer, or not returned: we know nothing, so we claim nothing.
        raise Unavailable(_SERVICE, "the refused write brought no item back")
    return item
