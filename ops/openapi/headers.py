"""Headers of requests and answers, as OpenAPI objects."""

from __future__ import annotations

from typing import Any, Final

from handlers.domain.keys import HEADER, MAX_KEY_BYTES
from handlers.http_request import CORRELATION_HEADER

Json = dict[str, Any]

_TIME: Final[Json] = {"type": "string", "format": "date-time"}
# Visible ASCII.
_KEY: Final[Json] = {"type": "string", "minLength": 1, "maxLength": MAX_KEY_BYTES, "pattern": "^[!-~]+$"}
_SECONDS: Final[Json] = {"type": "integer", "minimum": 1}

RESPONSE_HEADERS: Final[dict[str, Json]] = {
    CORRELATION_HEADER: {
        "description": "The caller's, if it sent a sane one; else the gateway's request id.",
        "required": True,
        "schema": {"type": "string"},
    },
    "Location": {
        "description": "Where the record can be read.",
        "required": True,
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "Idempotent-Replayed": {
        "description": "On a replay: this is the first request's answer, byte for byte.",
        "schema": {"type": "string", "const": "true"},
    },
    "Idempotent-Body-Omitted": {
        "description": "On a replay whose body was too large to be kept; status and headers are the first's.",
        "schema": {"type": "string", "const": "too-large"},
    },
    "Idempotency-First-Seen": {
        "description": "On a replay: when the key was first seen.",
        "schema": _TIME,
    },
    "Idempotency-Expires": {
        "description": "On a replay: when the key's window ends; then it stands for a new request.",
        "schema": _TIME,
    },
    "Retry-After": {"description": "Seconds until a retry makes sense.", "schema": _SECONDS},
    "Allow": {
        "description": "The methods of this path.",
        "required": True,
        "schema": {"type": "string"},
    },
}

PARAMETERS: Final[dict[str, Json]] = {
    "CorrelationId": {
        "name": CORRELATION_HEADER,
        "in": "header",
        "description": "Travels with the request through queues, events and logs.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._:/+=@-]{1,128}$"},
    },
    "RecordId": {
        "name": "id",
        "in": "path",
        "required": True,
        "description": "A ULID, as answered and as in `Location`.",
        "schema": {"type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"},
    },
    "ReceiptKey": {
        "name": "key",
        "in": "path",
        "required": True,
        "description": "The idempotency key, percent-encoded.",
        "schema": _KEY,
    },
    "Tenant": {
        "name": "tenant",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^[a-z][a-z0-9-]{1,30}[a-z0-9]$"},
    },
    "Source": {
        "name": "source",
        "in": "path",
        "required": True,
        "description": "One of the tenant's webhook sources.",
        "schema": {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,30}[a-z0-9]$"},
    },
}


def idempotency_key(*, required: bool) -> Json:
    """The parameter of an operation whose key is, or may be, the header's."""
    otherwise = (
        "" if required else " Without it the key is the body's SHA-256, unless the tenant requires one."
    )
    return {
        "name": HEADER,
        "in": "header",
        "required": required,
        "description": 'Names this request: sent again, it takes effect once. A quoted value (`"k"`) is `k`.'
        + otherwise,
        "schema": _KEY,
    }


def references(*names: str) -> Json:
    """`headers` of a response: references to the components of these names."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
