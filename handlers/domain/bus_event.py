"""A CloudEvent on its way over the event bus: what `fulfil` puts in a detail and `notify` takes out of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.caller import TENANT_ID
from handlers.domain.errors import CorruptItem
from handlers.domain.json_text import parsed
from handlers.domain.message_text import for_a_message
from handlers.domain.metric_catalogue import DETAILED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.outbox import Delivery


# An entry of PutEvents is less than 256 KiB, its source and type included (EventBridge user guide,
# "Calculating PutEvents event entry size"); a larger one fails the call, as if the bus were at fault.
_MAX_DETAIL_BYTES: Final = 255 * 1024
# What is around the document: the tenant's id and nine CloudEvents attributes, each bounded by our own rules,
# together about 600 bytes in practice; as text in text some of it twice.
_ENVELOPE_BYTES: Final = 4 * 1024
# What a byte of a document can become: U+FFFE is three bytes, and `\\ufffe` in the text of a text is seven.
_GROWTH: Final = 7 / 3


@dataclass(frozen=True, slots=True)
class Notice:
    """What a tenant's topic is told.

    Attributes:
        event: the CloudEvent as JSON text.
        detailed_metrics: whether the tenant has its metrics in detail.
    """

    tenant_id: str
    type: str
    event_id: str
    correlation_id: str
    event: str
    detailed_metrics: bool = False


def detail_of(delivery: Delivery, event: str, *, detailed_metrics: bool = False) -> str:
    """`{"tenantId", "event"}` as JSON text; `event` is the CloudEvent (JSON text) of the delivery.

    `"metrics": "detailed"` is added for a tenant that has them: `notify` has no other way to know.

    An object, for rules to look into; but text where a number of it would come back spelled otherwise: Lambda
    parses a detail, and 1e400 or 1.50 would not survive being written again.

    Raises:
        CorruptItem: it would be more than the bus takes.
    """
    more = {"metrics": DETAILED} if detailed_metrics else {}
    detail = _text({"tenantId": delivery.tenant_id, "event": _carried(event), **more})
    if len(detail.encode()) > _MAX_DETAIL_BYTES:
        raise CorruptItem(f"the event's detail would be over {_MAX_DETAIL_BYTES} bytes")
    return detail


def fits(document: str) -> bool:
    """Whether the event of a document (JSON text) makes a detail that the bus takes."""
    room = _MAX_DETAIL_BYTES - _ENVELOPE_BYTES
    if len(document.encode()) * _GROWTH <= room:
        return True
    return len(_text(_carried(for_a_message(document))).encode()) <= room


def notice_in(event: Mapping[str, Any]) -> Notice:
    """The notice in an EventBridge event as Lambda brings it.

    Raises:
        CorruptItem: it is none of ours, or names one tenant and is another's.
    """
    try:
        tenant_id, carried = event["detail"]["tenantId"], event["detail"]["event"]
        text = carried if isinstance(carried, str) else _text(carried)
        cloud_event: Any = parsed(text)
        source, kind, event_id = (cloud_event[name] for name in ("source", "type", "id"))
        correlation_id = str(cloud_event.get("correlationid", "unknown"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CorruptItem("an event of the bus holds no event of a tenant") from None
    if not isinstance(tenant_id, str) or not TENANT_ID.fullmatch(tenant_id):
        raise CorruptItem("an event of the bus names no tenant")
    if str(source).rpartition("/")[2] != tenant_id:
        raise CorruptItem("an event of the bus names one tenant and is another's")
    detailed = event["detail"].get("metrics") == DETAILED
    return Notice(tenant_id, str(kind), str(event_id), correlation_id, text, detailed)


def _carried(event: str) -> object:
    value = parsed(event)
    return value if _spelled(_text(value)) == _spelled(event) else event


def _spelled(text: str) -> object:
    """The JSON value in `text`, with every number as it is spelled."""
    return json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=_Number)


class _Number(str):
    """A number's spelling, which equals no string of the same letters."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Number) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((_Number, str(self)))


def _text(event: object) -> str:
    return for_a_message(json.dumps(event, ensure_ascii=False, separators=(",", ":")))
