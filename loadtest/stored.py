"""What the platform stored and published, in the shape that the checker compares."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadtest.history import REPLAYED_HEADERS, hash_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """One item of the receipts table.

    Attributes:
        pk: `tenantId#key`. tenant_id: its attribute. key: the part after the first `#`.
        completed: the request behind it is answered.
        record_id, event_id: of its outbox; None while there is none.
        status, headers, body: the stored answer; headers are the allow-listed ones, names in lower case.
        document: the record as JSON text. lead_hash: hash of the lead in it, None when there is none.
    """

    pk: str
    tenant_id: str
    completed: bool
    record_id: str | None
    event_id: str | None
    status: int | None
    headers: tuple[tuple[str, str], ...]
    body: str | None
    document: str | None
    lead_hash: str | None

    @property
    def key(self) -> str:
        """The part of the partition key after the tenant."""
        return self.pk.partition("#")[2]


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One item of the records table; `pk` is `tenantId#recordId`."""

    pk: str
    tenant_id: str
    record_id: str
    event_id: str
    document: str
    lead_hash: str | None


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One message of an audit queue, raw: a CloudEvent.

    Attributes:
        queue_tenant: whose queue it was in.
        event_id, subject, source: of the event (subject is the record's id).
        tenant_attribute, event_attribute: the SNS attributes `tenantId` and `eventId`; None when missing.
        data: the event's data as canonical hash. lead_hash: hash of the lead in it.
    """

    queue_tenant: str
    event_id: str
    subject: str
    source: str
    tenant_attribute: str | None
    event_attribute: str | None
    data_hash: str | None
    lead_hash: str | None


def receipt(item: Mapping[str, Any]) -> StoredReceipt:
    """Read an item of the receipts table, as boto3's resource layer gives it. Missing parts become None."""
    response, outbox = item.get("response") or {}, item.get("outbox") or {}
    headers = {str(name).lower(): str(value) for name, value in (response.get("headers") or {}).items()}
    document = outbox.get("document")
    return StoredReceipt(
        pk=item["pk"],
        tenant_id=item.get("tenantId", ""),
        completed=item.get("status") == "COMPLETED",
        record_id=outbox.get("recordId"),
        event_id=item.get("outboxId"),
        status=int(response["status"]) if "status" in response else None,
        headers=tuple((name, headers[name]) for name in REPLAYED_HEADERS if name in headers),
        body=response.get("body"),
        document=document,
        lead_hash=lead_hash(document),
    )


def record(item: Mapping[str, Any]) -> StoredRecord:
    """Read an item of the records table, as boto3's resource layer gives it. Missing parts become ''."""
    document = item.get("document", "")
    return StoredRecord(
        pk=item["pk"],
        tenant_id=item.get("tenantId", ""),
        record_id=item.get("recordId", ""),
        event_id=item.get("eventId", ""),
        document=document,
        lead_hash=lead_hash(document),
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
    data = envelope.get("data")
    return AuditEvent(
        queue_tenant=queue_tenant,
        event_id=str(envelope.get("id", "")),
        subject=str(envelope.get("subject", "")),
        source=str(envelope.get("source", "")),
        tenant_attribute=attributes.get("tenantId"),
        event_attribute=attributes.get("eventId"),
        data_hash=hash_of(data),
        lead_hash=hash_of(data["lead"]) if isinstance(data, dict) and "lead" in data else None,
    )


def lead_hash(document: str | None) -> str | None:
    """Hash of the lead in a record's document; None when there is no such thing in it."""
    lead = _object(document or "").get("lead")
    return None if lead is None else hash_of(lead)


def document_hash(document: str | None) -> str | None:
    """Hash of a whole document, to compare with an event's data."""
    parsed = _object(document or "")
    return hash_of(parsed) if parsed else None


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
