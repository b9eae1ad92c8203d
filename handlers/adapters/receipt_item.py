"""A receipt as a DynamoDB item, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from handlers.domain import keys
from handlers.domain.errors import CorruptItem
from handlers.domain.metric_catalogue import DETAILED
from handlers.domain.receipt import SCHEMA, Outbox, Receipt, Status, StoredResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Item = dict[str, AttributeValueTypeDef]


# No more digits than a number of DynamoDB has; Python reads no more than 4,300 of them.
_INTEGER: Final = re.compile(r"-?[0-9]{1,38}")


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
    if receipt.checkpoint is not None:
        item["checkpoint"] = {"S": receipt.checkpoint}
    if receipt.fields:
        item["fields"] = {"M": {name: {"S": value} for name, value in receipt.fields.items()}}
    if receipt.body_hash is not None:
        item["bodyHash"] = {"S": receipt.body_hash}
    if receipt.pinned is not None:
        item["pinned"] = {"S": receipt.pinned}
    if receipt.detailed_metrics:
        item["metrics"] = {"S": DETAILED}
    return item | result_attributes(receipt)


def result_attributes(receipt: Receipt) -> Item:
    """The attributes of an answered request alone: the answer, and what must follow from it."""
    attributes: Item = {}
    if receipt.response is not None:
        attributes["response"] = _response(receipt.response)
    if receipt.outbox is not None:
        # A leaf of its own: the stream's filter asks whether it exists.
        attributes["outboxId"] = {"S": receipt.outbox.event_id}
        attributes["outbox"] = {
            "M": {
                "type": {"S": receipt.outbox.type},
                "recordId": {"S": receipt.outbox.record_id},
                "document": {"S": receipt.outbox.document},
            }
        }
    return attributes


def from_item(item: Mapping[str, Any]) -> Receipt:
    """The receipt in a DynamoDB item (attribute values as boto3's client gives them).

    Raises:
        CorruptItem: it has not what every receipt has, or a schema newer than this code. It names the
            attribute, never what is stored there.
    """
    if _integer(item, "schema") > SCHEMA:
        raise CorruptItem("a receipt was written by a newer release than this one")
    tenant_id, separator, key = _text(item, "pk").partition("#")
    if not separator:
        raise _corrupt("pk")
    return Receipt(
        tenant_id=tenant_id,
        key=key,
        operation=_text(item, "operation"),
        fingerprint=_text(item, "fingerprint"),
        status=_status(item),
        owner=_text(item, "owner"),
        generation=_text(item, "generation"),
        lease_until=_integer(item, "leaseUntil"),
        created_at=_integer(item, "createdAt"),
        expires_at=_integer(item, "expiresAt"),
        purge_at=_integer(item, "purgeAt"),
        correlation_id=_text(item, "correlationId"),
        response=None if "response" not in item else _stored_response(_members(item, "response")),
        outbox=None if "outbox" not in item else _outbox(item),
        # Not in the items of the first release, and not in every one of this: nothing may depend on them.
        checkpoint=None if "checkpoint" not in item else _text(item, "checkpoint"),
        fields=_texts(item, "fields") if "fields" in item else {},
        body_hash=None if "bodyHash" not in item else _text(item, "bodyHash"),
        pinned=None if "pinned" not in item else _text(item, "pinned"),
        detailed_metrics=item.get("metrics") == {"S": DETAILED},
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
    return StoredResponse(
        status=_integer(members, "status"),
        headers=_texts(members, "headers"),
        body=None if "body" not in members else _text(members, "body"),
    )


def _outbox(item: Mapping[str, Any]) -> Outbox:
    members = _members(item, "outbox")
    return Outbox(
        event_id=_text(item, "outboxId"),
        type=_text(members, "type"),
        record_id=_text(members, "recordId"),
        document=_text(members, "document"),
    )


def _status(item: Mapping[str, Any]) -> Status:
    try:
        return Status(_text(item, "status"))
    except ValueError:
        raise _corrupt("status") from None


def _text(item: Mapping[str, Any], name: str) -> str:
    value = _value(item, name, "S")
    if not isinstance(value, str):
        raise _corrupt(name)
    return value


def _integer(item: Mapping[str, Any], name: str) -> int:
    value = _value(item, name, "N")
    # DynamoDB gives numbers as text, and no receipt has a fraction or an exponent.
    if not isinstance(value, str) or not _INTEGER.fullmatch(value):
        raise _corrupt(name)
    return int(value)


def _members(item: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = _value(item, name, "M")
    if not isinstance(value, dict):
        raise _corrupt(name)
    return value


def _texts(item: Mapping[str, Any], name: str) -> dict[str, str]:
    members = _members(item, name)
    return {member: _text(members, member) for member in members}


def _value(item: Mapping[str, Any], name: str, kind: str) -> object:
    attribute = item.get(name)
    return attribute.get(kind) if isinstance(attribute, dict) else None


def _corrupt(name: str) -> CorruptItem:
    return CorruptItem(f"an item of the receipts table is no receipt: {name}")


def _number(value: int) -> AttributeValueTypeDef:
    return {"N": str(value)}
