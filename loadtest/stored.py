"""What the platform stored and published, in the shape that the checker compares."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from loadtest.history import REPLAYED_HEADERS, hash_of
from loadtest.operations import BY_NAME, LEADS, ORDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadtest.operations import Operation


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """One item of the receipts table.

    Attributes:
        pk: `tenantId#key`. tenant_id, operation: its attributes. key: the part after the first `#`.
        completed: the request behind it is answered.
        record_id, event_id, event_type: of its outbox; None while there is none.
        correlation_id: of the attempt that wrote it.
        status, headers, body: the stored answer; headers are the allow-listed ones, names in lower case.
        document: the record as JSON text. document_id, created_at, body_hash: of what is in it (`id`,
            `createdAt`, hash of the body that was sent); None when there is no such thing.
    """

    pk: str
    tenant_id: str
    operation: str
    completed: bool
    record_id: str | None
    event_id: str | None
    event_type: str | None
    correlation_id: str | None
    status: int | None
    headers: tuple[tuple[str, str], ...]
    body: str | None
    document: str | None
    document_id: str | None
    created_at: str | None
    body_hash: str | None

    @property
    def key(self) -> str:
        """The part of the partition key after the tenant."""
        return self.pk.partition("#")[2]

    @property
    def tenant(self) -> str:
        """The part of the partition key before the key."""
        return self.pk.partition("#")[0]

    @property
    def refuses(self) -> bool:
        """The stored answer is a refusal that stands: nothing follows from it."""
        known = BY_NAME.get(self.operation)
        problem = _text(_object(self.body or "").get("type"))
        return known is not None and self.status is not None and known.is_final(self.status, problem)


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One item of the records table; `pk` is `tenantId#recordId`. `status`: of its queued work, if any."""

    pk: str
    tenant_id: str
    record_id: str
    event_id: str
    document: str
    body_hash: str | None
    operation: str = ""
    status: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One message of an audit queue, raw: a CloudEvent.

    Attributes:
        queue_tenant: whose queue it was in.
        event_id, subject, source, specversion, event_type, time, correlation_id: of the event (subject is
            the record's id); '' when missing.
        tenant_attribute, event_attribute, type_attribute: the SNS attributes `tenantId`, `eventId` and
            `type`; None when missing.
        data_hash: the event's data as canonical hash. body_hash: hash of the sent body in it.
    """

    queue_tenant: str
    event_id: str
    subject: str
    source: str
    specversion: str
    event_type: str
    time: str
    correlation_id: str
    tenant_attribute: str | None
    event_attribute: str | None
    type_attribute: str | None
    data_hash: str | None
    body_hash: str | None


def receipt(item: Mapping[str, Any]) -> StoredReceipt:
    """Read an item of the receipts table. Total: what is missing or of a wrong type becomes None."""
    response, outbox = _mapping(item.get("response")), _mapping(item.get("outbox"))
    headers = {str(name).lower(): str(value) for name, value in _mapping(response.get("headers")).items()}
    document = _text(outbox.get("document"))
    content = _object(document or "")
    return StoredReceipt(
        pk=item["pk"],
        tenant_id=_text(item.get("tenantId")) or "",
        operation=_text(item.get("operation")) or "",
        completed=item.get("status") == "COMPLETED",
        record_id=_text(outbox.get("recordId")),
        event_id=_text(item.get("outboxId")),
        event_type=_text(outbox.get("type")),
        correlation_id=_text(item.get("correlationId")),
        status=_whole(response.get("status")),
        headers=tuple((name, headers[name]) for name in REPLAYED_HEADERS if name in headers),
        body=_text(response.get("body")),
        document=document,
        document_id=_text(content.get("id")),
        created_at=_text(content.get("createdAt")),
        body_hash=_sent_hash(content),
    )


def record(item: Mapping[str, Any]) -> StoredRecord:
    """Read an item of the records table. Total: what is missing or of a wrong type becomes ''."""
    document = _text(item.get("document")) or ""
    return StoredRecord(
        pk=item["pk"],
        tenant_id=_text(item.get("tenantId")) or "",
        record_id=_text(item.get("recordId")) or "",
        event_id=_text(item.get("eventId")) or "",
        document=document,
        body_hash=_sent_hash(_object(document)),
        operation=_text(item.get("operation")) or "",
        status=_text(item.get("status")),
    )


def event(queue_tenant: str, body: str, attributes: Mapping[str, str]) -> AuditEvent:
    """Read a message of an audit queue.

    Args:
        queue_tenant: whose queue it came from.
        body: the raw message: a CloudEvent as JSON text. What is no JSON object gives empty ids, which no
            receipt has, so that the checker reports it.
        attributes: the message's attributes, by name.
    """
    envelope = _object(body)
    named = {name: _text(envelope.get(name)) or "" for name in _ENVELOPE}
    data = envelope.get("data")
    return AuditEvent(
        queue_tenant=queue_tenant,
        event_id=named["id"],
        subject=named["subject"],
        source=named["source"],
        specversion=named["specversion"],
        event_type=named["type"],
        time=named["time"],
        correlation_id=named["correlationid"],
        tenant_attribute=attributes.get("tenantId"),
        event_attribute=attributes.get("eventId"),
        type_attribute=attributes.get("type"),
        data_hash=hash_of(data),
        body_hash=_sent_hash(_mapping(data)),
    )


def event_id(body: str) -> str:
    """The id of an event, by its raw message; '' when it has none."""
    return _text(_object(body).get("id")) or ""


# The attributes of a CloudEvent that are compared; an extension's name is in lower case by that standard.
_ENVELOPE = ("id", "subject", "source", "specversion", "type", "time", "correlationid")


def operation_of(receipt: StoredReceipt) -> Operation:
    """The operation that a receipt says it is of; a lead's rules where it says none that there is."""
    return BY_NAME.get(receipt.operation, LEADS)


def as_announced(receipt: StoredReceipt) -> str | None:
    """The data of a record's event: what a GET answers, where the event says that the work is done."""
    return as_read(receipt) if operation_of(receipt) is ORDERS else receipt.document


def as_read(receipt: StoredReceipt) -> str | None:
    """What a GET of the record answers: the document, and as its last member the status of its work."""
    done = operation_of(receipt).done
    if done is None or receipt.document is None:
        return receipt.document
    return f'{receipt.document[:-1]},"status":"{done}"}}'


def document_hash(document: str | None) -> str | None:
    """Hash of a whole document, to compare with an event's data."""
    parsed = _object(document or "")
    return hash_of(parsed) if parsed else None


def _sent_hash(content: Mapping[str, Any]) -> str | None:
    """Hash of what was sent: the one member of a document that is named as an operation's record."""
    for operation in BY_NAME.values():
        if content.get(operation.record_name) is not None:
            return hash_of(content[operation.record_name])
    return None


def sent_in(document: str | None, operation: Operation) -> dict[str, Any]:
    """What was sent, as it stands in a document; empty when there is no such thing."""
    return _mapping(_object(document or "").get(operation.record_name))


def member(text: str | None, name: str) -> Any:  # noqa: ANN401 - whatever stands there
    """A member of a JSON object in a text; None when there is no such thing."""
    return _object(text or "").get(name)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: object) -> int | None:
    """A number of DynamoDB (`Decimal`, as boto3 reads it) that is whole."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool) and value == int(value):
        return int(value)
    return None
