"""The event on a tenant's topic: CloudEvents 1.0, JSON format."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from handlers.domain.errors import CorruptItem
from handlers.domain.json_text import parsed
from handlers.domain.message_text import MAX_EVENT_BYTES, for_a_message
from handlers.domain.timestamps import rfc3339
from handlers.domain.work import with_status

if TYPE_CHECKING:
    from handlers.domain.outbox import Delivery
    from handlers.domain.work import Work

# github.com/cloudevents/spec, v1.0.2: the value of `specversion` for every 1.0.x.
_SPEC_VERSION: Final = "1.0"


def encode(delivery: Delivery, stage: str) -> str:
    """The event as JSON text, at most MAX_EVENT_BYTES in UTF-8; the same text on every redelivery.

    Raises:
        CorruptItem: the document is no JSON object, the event would be too large, or a part of it is nothing
            that an event can hold (a time beyond the calendar, half of a surrogate pair).
    """
    _require_object(delivery.document)
    envelope = {
        "specversion": _SPEC_VERSION,
        "id": delivery.event_id,
        "source": f"/onceward/{stage}/{delivery.tenant_id}",
        "type": delivery.type,
        "subject": delivery.record_id,
        "time": _time(delivery.created_at),
        "datacontenttype": "application/json",
        "correlationid": delivery.correlation_id,
    }
    # The document goes in as text: parsed and written again, 1e400 or a 30-digit number would not survive.
    head = json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).removesuffix("}")
    event = for_a_message(f'{head},"data":{delivery.document}}}')
    try:
        size = len(event.encode())
    except UnicodeEncodeError:
        raise CorruptItem("the event would hold half of a surrogate pair") from None
    if size > MAX_EVENT_BYTES:
        raise CorruptItem(f"the event would be over {MAX_EVENT_BYTES} bytes")
    return event


def encode_done(delivery: Delivery, work: Work, stage: str) -> str:
    """The event of work that is done: its data is what a GET shows then, so with the status as last member.

    Raises CorruptItem, as `encode` does.
    """
    return encode(replace(delivery, document=with_status(delivery.document, work.done)), stage)


def _time(epoch_ms: int) -> str:
    try:
        return rfc3339(epoch_ms)
    except (ValueError, OverflowError, OSError):  # the platform's own limits differ
        raise CorruptItem("a receipt was made at no time of the calendar") from None


def _require_object(document: str) -> None:
    # Text that is not JSON would break the envelope around it, or add attributes to it.
    try:
        told = parsed(document)
    except ValueError:
        raise CorruptItem("the document of a receipt is not JSON") from None
    if not isinstance(told, dict):
        raise CorruptItem("the document of a receipt is not a JSON object")
