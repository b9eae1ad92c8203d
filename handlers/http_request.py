"""HTTP requests: a REST API (v1) proxy event as the handlers want it."""

from __future__ import annotations

import base64
import binascii
import re
import uuid
from dataclasses import dataclass
from email.message import Message
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.errors import BodyTooLarge, Fault, InvalidBody, OncewardError, UnsupportedMediaType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CORRELATION_HEADER: Final = "X-Correlation-Id"
# Sane: short enough for a log line and an event attribute, and nothing that could break either.
_SANE_CORRELATION_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_MEDIA_TYPE = "application/json"
# JSON between systems is UTF-8 (RFC 8259 section 8.1); the second spelling is the WHATWG's, and common.
_CHARSETS = frozenset({"utf-8", "utf8"})


class MalformedEvent(OncewardError):
    """The event lacks what the gateway puts in every one: our fault or its own, not the caller's."""


@dataclass(frozen=True)
class HttpRequest:
    """What the handlers need of a proxy event.

    Attributes:
        resource: the REST resource, such as `/v1/leads`.
        headers: every value of each header, under its lower-case name.
        raw_body: as the event has it; see `body`.
        request_time: as the event has it; see `arrival_ms`.
        request_id: the gateway's own, as its access log has it.
    """

    resource: str
    headers: Mapping[str, Sequence[str]]
    authorizer: Mapping[str, object]
    raw_body: str
    is_base64: bool
    request_time: object
    correlation_id: str
    request_id: str

    @property
    def arrival_ms(self) -> int:
        """When the gateway received it, ms since the epoch; raises MalformedEvent when it does not say."""
        if not isinstance(self.request_time, int):
            raise MalformedEvent("requestContext.requestTimeEpoch: missing or no number")
        return self.request_time

    def header(self, name: str) -> str | None:
        """The last value of a header, or None; `name` in any case."""
        values = self.headers.get(name.lower(), ())
        return values[-1] if values else None

    def body(self, limit_bytes: int) -> bytes:
        """The body's bytes.

        Raises:
            InvalidBody: broken base64.
            BodyTooLarge: more than `limit_bytes` (decoded).
        """
        decoded = self.decoded()
        if len(decoded) > limit_bytes:
            raise BodyTooLarge(f"the body has {len(decoded)} bytes; this tenant's limit is {limit_bytes}")
        return decoded

    def require_json(self, *, suffixed: bool = False) -> None:
        """Raise UnsupportedMediaType unless Content-Type is application/json, in UTF-8 if it names a charset.

        `suffixed`: types that end in `+json` (RFC 6839 section 3.1) will do too; senders of webhooks vary.
        Other parameters mean nothing for this type (RFC 8259 section 11) and are let pass.
        """
        # Sent twice with two values, which of them counts would be chance.
        sent = {value.strip(" \t") for value in self.headers.get("content-type", ())}
        if len(sent) != 1 or not _is_json(sent.pop(), suffixed=suffixed):
            raise UnsupportedMediaType("send the body as Content-Type: application/json (UTF-8)")

    def decoded(self) -> bytes:
        """The body's bytes, however many: what a signature covers. Raises InvalidBody for broken base64."""
        if not self.is_base64:
            return self.raw_body.encode("utf-8", "surrogatepass")
        try:
            return base64.b64decode(self.raw_body, validate=True)
        except (binascii.Error, ValueError):
            detail = "the body is marked as base64 but is not"
            raise InvalidBody(detail, (Fault("", "bad_base64", detail),)) from None


def _is_json(content_type: str, *, suffixed: bool) -> bool:
    message = Message()
    try:
        message["Content-Type"] = content_type
        charset = message.get_param("charset", "utf-8")
        media = message.get_content_type()
    except (ValueError, TypeError):
        # Half of a surrogate pair, or a line break: what no media type has. A parameter both in one piece and
        # in pieces (`a*=x; a*0=y`): Python's reader of RFC 2231 cannot put these in an order.
        return False
    # Python takes off blanks of every kind (no-break, form feed); HTTP, spaces and tabs (RFC 9110, 5.6.3).
    if content_type.partition(";")[0].strip(" \t").lower() != media:
        return False
    # A charset in RFC 2231's form comes back as a tuple; nobody needs that for `utf-8`.
    known = isinstance(charset, str) and charset.lower() in _CHARSETS
    return known and (media == _MEDIA_TYPE or (suffixed and media.endswith("+json")))


def parse(event: Mapping[str, Any]) -> HttpRequest:
    """Read a proxy event. Never raises: absent and null members are as good as empty.

    Whoever needs what is not there finds out in its own place, where an error becomes an answer.
    """
    context = event.get("requestContext") or {}
    headers = _headers(event)
    return HttpRequest(
        resource=event.get("resource") or "",
        headers=headers,
        authorizer=context.get("authorizer") or {},
        raw_body=event.get("body") or "",
        is_base64=bool(event.get("isBase64Encoded")),
        request_time=context.get("requestTimeEpoch"),
        correlation_id=_correlation_id(headers, context.get("requestId")),
        request_id=context.get("requestId") or "",
    )


def correlation_id_of(event: Mapping[str, Any]) -> str:
    """The caller's correlation id if it sent a sane one, else the gateway's request id. Never raises."""
    return _correlation_id(_headers(event), (event.get("requestContext") or {}).get("requestId"))


def _headers(event: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    multiple = event.get("multiValueHeaders") or {
        name: [value] for name, value in (event.get("headers") or {}).items()
    }
    gathered: dict[str, tuple[str, ...]] = {}
    for name, values in multiple.items():
        present = tuple(value for value in values or () if value is not None)
        gathered[name.lower()] = gathered.get(name.lower(), ()) + present
    return gathered


def _correlation_id(headers: Mapping[str, Sequence[str]], request_id: str | None) -> str:
    sent = headers.get(CORRELATION_HEADER.lower(), ())
    if len(sent) == 1 and _SANE_CORRELATION_ID.fullmatch(sent[0]):
        return sent[0]
    return request_id or uuid.uuid4().hex
