"""The message that asks for a piece of work: where its record is, and nothing of what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.caller import TENANT_ID
from handlers.domain.errors import CorruptItem
from handlers.domain.json_text import compact, parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.outbox import Delivery

CORRELATION_ATTRIBUTE: Final = "correlationId"
UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class WorkMessage:
    """One piece of work. A message may come twice, late, or for work that is done: the record decides."""

    tenant_id: str
    operation: str
    record_id: str
    event_id: str
    correlation_id: str

    @classmethod
    def of(cls, delivery: Delivery) -> WorkMessage:
        """The message for what was accepted."""
        return cls(
            delivery.tenant_id,
            delivery.operation,
            delivery.record_id,
            delivery.event_id,
            delivery.correlation_id or UNKNOWN,
        )

    def body(self) -> str:
        """`{"tenantId", "operation", "recordId", "eventId"}`."""
        return compact(
            {
                "tenantId": self.tenant_id,
                "operation": self.operation,
                "recordId": self.record_id,
                "eventId": self.event_id,
            }
        )


def message_in(record: Mapping[str, Any]) -> WorkMessage:
    """The message in an SQS record as Lambda brings it.

    Raises:
        CorruptItem: nobody of ours wrote it.
    """
    try:
        body: Any = parsed(record["body"])
        texts = [body[name] for name in ("tenantId", "operation", "recordId", "eventId")]
    except (ValueError, KeyError, TypeError):
        raise CorruptItem("a message of the work queue names no work") from None
    if not all(isinstance(text, str) and text for text in texts) or not TENANT_ID.fullmatch(texts[0]):
        raise CorruptItem("a message of the work queue names no work")
    tenant_id, operation, record_id, event_id = texts
    return WorkMessage(tenant_id, operation, record_id, event_id, _correlation_id(record))


def _correlation_id(record: Mapping[str, Any]) -> str:
    # Only for the log, until the record itself is there to say it: a message without one is no worse.
    attribute = (record.get("messageAttributes") or {}).get(CORRELATION_ATTRIBUTE) or {}
    value = attribute.get("stringValue") if isinstance(attribute, dict) else None
    return value if isinstance(value, str) and value else UNKNOWN
