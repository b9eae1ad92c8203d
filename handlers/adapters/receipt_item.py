"""A receipt as a DynamoDB item, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handlers.domain import keys
from handlers.domain.errors import CorruptItem
from handlers.domain.receipt import SCHEMA, Outbox, Receipt, Status, StoredResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Item = dict[str, AttributeValueTypeDef]


def to_item(receipt: Receipt) -> Item:
    """The item for `receipt`. Attribute names are part of what a duplicate costs, so they are short."""
    item: Item = {
        "pk": {"S": keys.partition_key(receipt.tenant_id, receipt.key)},
        "tenantId": {"S": receipt.tenant_id},
        "operation": {"S": receipt.operation},
        "fingerprint": {"S": receipt.fingerprint},
        "status": {"S": receipt.status.value},
        "owner": {"S": receipt.owner},
        "generation": {"S": receipt.generation},
        "leaseUntil": _number(receipt.lease_until),
        "createdAt": _number(receipt.created_at),
        "expiresAt": _number(receipt.expires_at),
        "purgeAt": _number(receipt.purge_at),
        "correlationId": {"S": receipt.correlation_id},
        "schema": _number(SCHEMA),
    }
    if receipt.response is not None:
        item["response"] = _response(receipt.response)
    if receipt.outbox is not None:
        # A leaf of its own: the stream's filter asks whether it exists.
        item["outboxId"] = {"S": receipt.outbox.event_id}
        item["outbox"] = {
            "M": {
                "type": {"S": receipt.outbox.type},
                "recordId": {"S": receipt.outbox.record_id},
                "document": {"S": receipt.outbox.document},
            }
        }
    return item


def from_item(item: Mapping[str, Any]) -> Receipt:
    """The receipt in a DynamoDB item (attribute values as boto3's client gives them).

    Raises:
        CorruptItem: it has not what every receipt has, or a schema newer than this code.
    """
    try:
        return _parsed(item)
    except (KeyError, ValueError, TypeError) as error:
        raise CorruptItem(f"an item of the receipts table is no receipt: {error!r}") from error


def _parsed(item: Mapping[str, Any]) -> Receipt:
    if int(item["schema"]["N"]) > SCHEMA:
        raise CorruptItem("a receipt was written by a newer release than this one")
    tenant_id, _, key = item["pk"]["S"].partition("#")
    response = item.get("response")
    outbox = item.get("outbox")
    return Receipt(
        tenant_id=tenant_id,
        key=key,
        operation=item["operation"]["S"],
        fingerprint=item["fingerprint"]["S"],
        status=Status(item["status"]["S"]),
        owner=item["owner"]["S"],
        generation=item["generation"]["S"],
        lease_until=int(item["leaseUntil"]["N"]),
        created_at=int(item["createdAt"]["N"]),
        expires_at=int(item["expiresAt"]["N"]),
        purge_at=int(item["purgeAt"]["N"]),
        correlation_id=item["correlationId"]["S"],
        response=None if response is None else _stored_response(response["M"]),
        outbox=None if outbox is None else _outbox(item["outboxId"]["S"], outbox["M"]),
    )


def _response(response: StoredResponse) -> AttributeValueTypeDef:
    members: dict[str, Any] = {
        "status": _number(response.status),
        "headers": {"M": {name: {"S": value} for name, value in response.headers.items()}},
    }
    if response.body is not None:
        members["body"] = {"S": response.body}
    return {"M": members}


def _stored_response(members: Mapping[str, Any]) -> StoredResponse:
    body = members.get("body")
    return StoredResponse(
        status=int(members["status"]["N"]),
        headers={name: value["S"] for name, value in members["headers"]["M"].items()},
        body=None if body is None else body["S"],
    )


def _outbox(event_id: str, members: Mapping[str, Any]) -> Outbox:
    return Outbox(
        event_id=event_id,
        type=members["type"]["S"],
        record_id=members["recordId"]["S"],
        document=members["document"]["S"],
    )


def _number(value: int) -> AttributeValueTypeDef:
    return {"N": str(value)}
