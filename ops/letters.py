"""What a message of a dead-letter queue says of itself: whose it is, of which record, and why it failed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_sqs.type_defs import MessageTypeDef

UNKNOWN: Final = "unknown"
"""The tenant of a message that names none."""

_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Letter:
    """One message, as it was received.

    Attributes:
        message_id: stays the same for as long as it is in the queue.
        handle: of this receive; deletes it, or makes it visible again.
        attributes: as SQS gives them and takes them again.
        group_id: its MessageGroupId, if it has one.
        sent_at: when it was first sent (to the queue that it came from, if it came from one), ms.
        tenant_id: UNKNOWN where it names none.
        reason: why it failed, where the message says it; never a payload.
    """

    message_id: str
    handle: str
    body: str
    attributes: Mapping[str, Any]
    group_id: str | None
    sent_at: int
    tenant_id: str
    record_id: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class _Said:
    tenant_id: str | None = None
    record_id: str | None = None
    reason: str | None = None


def letter(queue: str, message: MessageTypeDef) -> Letter:
    """The message as a letter of the dead-letter queue `queue` (a name such as `orders-dlq`)."""
    body = message["Body"]
    attributes: Mapping[str, Any] = message.get("MessageAttributes", {})
    system = message.get("Attributes", {})
    said = _READERS[queue](parsed(body), attributes)
    return Letter(
        message_id=message["MessageId"],
        handle=message["ReceiptHandle"],
        body=body,
        attributes=attributes,
        group_id=system.get("MessageGroupId"),
        sent_at=int(system.get("SentTimestamp", "0")),
        tenant_id=said.tenant_id or _attribute(attributes, "tenantId") or UNKNOWN,
        record_id=said.record_id,
        reason=said.reason,
    )


def parsed(body: str) -> Any:  # noqa: ANN401 - JSON of any shape
    """The body as JSON, or None."""
    try:
        return json.loads(body)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class BusEvent:
    """An event of the bus; `detail` is its JSON text, spelt as it was."""

    source: str
    detail_type: str
    detail: str


def is_encrypted(body: str) -> bool:
    """Whether a message of `notify-dlq` is an event that the bus could not encrypt or decrypt.

    It says nothing of whose it is; what it holds is an event in EventBridge's own encryption, under an id and
    a source of EventBridge's (its user guide, "Decrypting events in EventBridge dead-letter queues").
    """
    event = parsed(body)
    return _text(event, "source") == "aws.events" and _text(event, "detail-type") == "Encrypted Events"


def event_in(body: str) -> BusEvent | None:
    """The event of the bus in a message of `notify-dlq`, or None when there is none that can be put again.

    Two senders fill that queue. The rule's target sends the event as it is (EventBridge User Guide, "Using
    dead-letter queues"); Lambda sends an invocation record with the event in `requestPayload` (Lambda
    Developer Guide, "Retaining records of asynchronous invocations").
    """
    text = _member(body, "requestPayload") or body
    event = parsed(text)
    source, detail_type = _text(event, "source"), _text(event, "detail-type")
    if source is None or detail_type is None or not isinstance(event.get("detail"), dict):
        return None
    if is_encrypted(body):
        return None
    # As text: parsed and written again, 1e400 or 1.50 would not survive.
    return BusEvent(source, detail_type, _member(text, "detail") or "")


def _member(text: str, name: str) -> str | None:
    """The text of a member of a JSON object; None when the text is no object, or has no such member."""
    if not isinstance(parsed(text), dict):
        return None
    found = None
    place = _past_blanks(text, text.index("{") + 1)
    while text[place] == '"':
        key, place = _DECODER.raw_decode(text, place)
        start = _past_blanks(text, _past_blanks(text, place) + 1)  # past the colon
        _, end = _DECODER.raw_decode(text, start)
        found = text[start:end] if key == name else found
        place = _past_blanks(text, end)
        place = _past_blanks(text, place + 1) if text[place] == "," else place
    return found


def _past_blanks(text: str, place: int) -> int:
    while text[place] in " \t\r\n":
        place += 1
    return place


def _of_work(body: object, _attributes: Mapping[str, Any]) -> _Said:
    return _Said(_text(body, "tenantId"), _text(body, "recordId"))


def _of_dispatch(body: object, _attributes: Mapping[str, Any]) -> _Said:
    return _Said(
        _text(body, "image", "tenantId", "S"),
        _text(body, "image", "outbox", "M", "recordId", "S"),
        _text(body, "error"),
    )


def _of_notify(body: object, attributes: Mapping[str, Any]) -> _Said:
    event = body["requestPayload"] if isinstance(body, dict) and "requestPayload" in body else body
    # The function's own message is left out: it could repeat what the event held.
    invoked = (_text(body, "requestContext", "condition"), _text(body, "responsePayload", "errorType"))
    # The CloudEvent is an object, or text where a number of it would not survive (handlers.domain.bus_event).
    told = _text(event, "detail", "event")
    subject = _text(event, "detail", "event", "subject") if told is None else _text(parsed(told), "subject")
    return _Said(
        _text(event, "detail", "tenantId"),
        subject,
        _joined(*invoked) or _error(attributes),
    )


def _of_delivery(body: object, attributes: Mapping[str, Any]) -> _Said:
    # With raw delivery the body is the CloudEvent itself, else SNS's envelope around it.
    wrapped = _text(body, "Message")
    event = body if wrapped is None else parsed(wrapped)
    source = _text(event, "source") or ""
    return _Said(source.rpartition("/")[2] or None, _text(event, "subject"), _error(attributes))


_READERS: Final[Mapping[str, Callable[[object, Mapping[str, Any]], _Said]]] = {
    "orders-dlq": _of_work,
    "webhooks-dlq": _of_work,
    "dispatch-dlq": _of_dispatch,
    "notify-dlq": _of_notify,
    "delivery-dlq": _of_delivery,
}


def _error(attributes: Mapping[str, Any]) -> str | None:
    code = _attribute(attributes, "ERROR_CODE") or _attribute(attributes, "ErrorCode")
    return _joined(code, _attribute(attributes, "ERROR_MESSAGE") or _attribute(attributes, "ErrorMessage"))


def _joined(*parts: str | None) -> str | None:
    return ": ".join(part for part in parts if part) or None


def _attribute(attributes: Mapping[str, Any], name: str) -> str | None:
    return _text(attributes, name, "StringValue")


def _text(value: object, *path: str) -> str | None:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) and value else None
