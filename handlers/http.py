"""HTTP in and out: the only place that knows statuses, and the one table from errors to answers."""

from __future__ import annotations

import base64
import binascii
import re
import traceback
import uuid
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.canonical_json import compact
from handlers.domain.errors import (
    BodyTooLarge,
    Fault,
    Forbidden,
    InvalidBody,
    InvalidKey,
    KeyReused,
    NotFound,
    OncewardError,
    Refused,
    RequestInProgress,
    RequestRefused,
    Unavailable,
    UnsupportedMediaType,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.canonical_json import JsonValue
    from handlers.domain.receipt import StoredResponse

CREATED: Final = 201
OK: Final = 200

_CORRELATION_HEADER = "X-Correlation-Id"
# Sane: short enough for a log line and an event attribute, and nothing that could break either.
_SANE_CORRELATION_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
# How soon a caller may try again after an outage: the store's own recovery from a throttle is about a second.
_OUTAGE_RETRY_SECONDS = 1
# What a browser's script may read of our answers; ours are not on the CORS safelist (Fetch standard).
EXPOSED_HEADERS: Final = (
    "Location, ETag, Idempotent-Replayed, Idempotent-Body-Omitted, Retry-After, X-Correlation-Id"
)
# RFC 9457 types are URIs; a URN promises no page that is not there.
_TYPE_PREFIX = "urn:onceward:problem:"

# error -> (status, slug, title). The first class that matches counts, so that the order is from leaf to root.
_PROBLEMS: Final[tuple[tuple[type[OncewardError], int, str, str], ...]] = (
    (InvalidKey, 400, "invalid-key", "The idempotency key is not acceptable"),
    (InvalidBody, 400, "invalid-body", "The body is not acceptable"),
    (BodyTooLarge, 413, "body-too-large", "The body is too large"),
    (UnsupportedMediaType, 415, "unsupported-media-type", "The body must be JSON"),
    (Forbidden, 403, "forbidden", "Not allowed"),
    (NotFound, 404, "not-found", "Not found"),
    (KeyReused, 422, "key-reused", "The key was used for another request"),
    (RequestInProgress, 409, "request-in-progress", "The first request is still running"),
    (Unavailable, 503, "store-unavailable", "Temporarily unavailable"),
    # The store answered and refused us: an access right or a key is broken. For the caller, an outage.
    (Refused, 503, "store-unavailable", "Temporarily unavailable"),
)
_INTERNAL = (500, "internal-error", "Internal error")


@dataclass(frozen=True)
class HttpRequest:
    """What the handlers need of a REST API proxy event.

    Attributes:
        headers: every value of each header, under its lower-case name.
        body: decoded bytes.
        arrival_ms: when the gateway received it, ms since the epoch.
        request_id: the gateway's own, as its access log has it.
    """

    resource: str
    headers: Mapping[str, Sequence[str]]
    path_parameters: Mapping[str, str]
    authorizer: Mapping[str, object]
    raw_body: str
    is_base64: bool
    arrival_ms: int
    correlation_id: str
    request_id: str

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
        decoded = self._decoded()
        if len(decoded) > limit_bytes:
            raise BodyTooLarge(f"the body has {len(decoded)} bytes; this tenant's limit is {limit_bytes}")
        return decoded

    def require_json(self) -> None:
        """Raise UnsupportedMediaType unless Content-Type is application/json (charset utf-8, if any)."""
        content_type = self.header("Content-Type") or ""
        media_type, _, parameters = content_type.partition(";")
        charset = parameters.strip().lower().replace('"', "").removeprefix("charset=")
        if media_type.strip().lower() != "application/json" or charset not in ("", "utf-8"):
            raise UnsupportedMediaType("send the body as Content-Type: application/json (UTF-8)")

    def _decoded(self) -> bytes:
        if not self.is_base64:
            return self.raw_body.encode("utf-8", "surrogatepass")
        try:
            return base64.b64decode(self.raw_body, validate=True)
        except (binascii.Error, ValueError):
            detail = "the body is marked as base64 but is not"
            raise InvalidBody(detail, (Fault("", "bad_base64", detail),)) from None


def parse(event: Mapping[str, Any]) -> HttpRequest:
    """Read a REST API (v1) proxy event; absent and null members are as good as empty."""
    context = event.get("requestContext") or {}
    headers = _headers(event)
    return HttpRequest(
        resource=event.get("resource") or "",
        headers=headers,
        path_parameters=event.get("pathParameters") or {},
        authorizer=context.get("authorizer") or {},
        raw_body=event.get("body") or "",
        is_base64=bool(event.get("isBase64Encoded")),
        arrival_ms=int(context["requestTimeEpoch"]),
        correlation_id=_correlation_id(headers, context.get("requestId")),
        request_id=context.get("requestId") or "",
    )


def problem(error: OncewardError | None, request: HttpRequest) -> dict[str, Any]:
    """The problem+json answer (RFC 9457) for an error; None stands for one that nobody foresaw."""
    status, slug, title = next((row[1:] for row in _PROBLEMS if isinstance(error, row[0])), _INTERNAL)
    body: dict[str, JsonValue] = {
        "type": _TYPE_PREFIX + slug,
        "title": title,
        "status": status,
        "detail": _detail(error),
        "correlationId": request.correlation_id,
    }
    if isinstance(error, RequestRefused) and error.faults:
        body["errors"] = [
            {"field": fault.field, "rule": fault.rule, "detail": fault.detail} for fault in error.faults
        ]
    headers = {"Content-Type": "application/problem+json"}
    retry_after = _retry_after(error)
    if retry_after is not None:
        headers["Retry-After"] = str(retry_after)
    return {"statusCode": status, "headers": headers, "body": compact(body)}


def answer(response: StoredResponse, *, replayed: bool) -> dict[str, Any]:
    """A stored answer, first or replayed: same status, same headers, same bytes."""
    headers = dict(response.headers)
    if replayed:
        headers["Idempotent-Replayed"] = "true"
    if response.body is None:
        headers["Idempotent-Body-Omitted"] = "too-large"
    return {"statusCode": response.status, "headers": headers, "body": response.body or ""}


def finish(result: dict[str, Any], request: HttpRequest, cors_origins: Sequence[str]) -> dict[str, Any]:
    """Add what every answer carries: the correlation id, and CORS for an origin that the stage knows."""
    # Vary also where the origin is not let in: a cache must not give its answer to an origin that is.
    result["headers"] |= {_CORRELATION_HEADER: request.correlation_id, "Vary": "Origin"}
    origin = request.header("Origin")
    if origin is not None and ("*" in cors_origins or origin in cors_origins):
        result["headers"] |= {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": EXPOSED_HEADERS,
        }
    return result


def where(error: BaseException) -> str:
    """An unforeseen error for the log: its type and the lines it passed, never its message.

    A message can repeat what was sent, and payloads are not logged.
    """
    frames = traceback.extract_tb(error.__traceback__)
    path = " > ".join(f"{PurePath(frame.filename).name}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__} at {path}"


def _headers(event: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    multiple = event.get("multiValueHeaders") or {
        name: [value] for name, value in (event.get("headers") or {}).items()
    }
    gathered: dict[str, tuple[str, ...]] = {}
    for name, values in multiple.items():
        gathered[name.lower()] = gathered.get(name.lower(), ()) + tuple(values)
    return gathered


def _correlation_id(headers: Mapping[str, Sequence[str]], request_id: str | None) -> str:
    sent = headers.get(_CORRELATION_HEADER.lower(), ())
    if len(sent) == 1 and _SANE_CORRELATION_ID.fullmatch(sent[0]):
        return sent[0]
    return request_id or uuid.uuid4().hex


def _detail(error: OncewardError | None) -> str:
    if isinstance(error, RequestRefused):
        return error.detail
    if isinstance(error, RequestInProgress):
        return f"{error}; try again in {error.retry_after_seconds} s"
    if isinstance(error, Unavailable | Refused):
        # Which service and why is for the log: the caller can do nothing with it.
        return (
            "a service that we depend on did not answer; send the request again (with its key, if it has one)"
        )
    return "the request failed on our side; send it again (with its key, if it has one)"


def _retry_after(error: OncewardError | None) -> int | None:
    if isinstance(error, RequestInProgress | NotFound):
        return error.retry_after_seconds
    return _OUTAGE_RETRY_SECONDS if isinstance(error, Unavailable | Refused) else None
