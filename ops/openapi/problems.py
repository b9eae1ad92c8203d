"""Answers that are no success: problem+json (RFC 9457), one component for each status."""

from __future__ import annotations

from typing import Any, Final

from handlers.http_request import CORRELATION_HEADER
from ops.openapi.headers import references

Json = dict[str, Any]

REPLAY: Final = ("Idempotent-Replayed", "Idempotency-First-Seen", "Idempotency-Expires")
"""What a replay carries, whatever the first answer was."""

# Status -> what it means here, and whether it may carry Retry-After. Functions and gateway both answer these;
# tests/unit/test_openapi.py compares them with the tables of both.
STATUSES: Final[dict[int, tuple[str, bool]]] = {
    400: ("The key or the body is not acceptable; `errors` lists every fault.", False),
    401: ("No credential; for webhooks: the sender did not prove itself, or is not known.", False),
    402: ("Declined: a final answer, stored and replayed.", False),
    403: ("The credential is unknown, revoked or suspended, or may not do this, or not from here.", False),
    404: ("Nothing of this tenant's is there; with `Retry-After`: it may yet appear.", True),
    405: ("This path has no such method.", False),
    409: ("The first request with this key still runs (`Retry-After`), or a slot is taken (final).", True),
    413: ("The body, or the event made of it, is over the limit.", False),
    415: ("The body must be application/json.", False),
    422: ("The key was used for another operation or another body; the detail names what differs.", False),
    429: ("The key's rate (`Retry-After`) or its quota is used up.", True),
    500: ("A fault on our side. A retry with the same key is safe.", False),
    502: (
        "It certainly did not happen. A retry runs at once, unless the detail says that this is final.",
        False,
    ),
    503: ("A service that we depend on is away or throttles. A retry with the same key is safe.", True),
    504: ("Whether it happened is not known. A retry with the same key finds out.", True),
}

PROBLEM: Final[Json] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "correlationId"],
    "properties": {
        "type": {"type": "string", "pattern": "^urn:onceward:problem:[a-z-]+$"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
        "correlationId": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "rule", "detail"],
                "properties": {
                    "field": {"type": "string", "description": "A JSON Pointer into the body, or a header."},
                    "rule": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}

# Not the component: that one is always there.
_OF_OWN_SLOT: Final[dict[str, Json]] = {
    "Location": {
        "description": "Of an appointment whose slot this patient already has: where that one can be read.",
        "schema": {"type": "string", "format": "uri-reference"},
    }
}
# Those of final refusals: stored as the answer, and replayed as it.
_REPLAYED: Final = frozenset({402, 409, 502})
# What can meet any call of a route: the gateway's own answers (it reads a body where none is taken, too), and
# a function's outage.
_GATEWAY: Final[tuple[int, ...]] = (403, 413, 429, 500, 503, 504)
_KEYED: Final = (400, 401, *_GATEWAY)
READING: Final[tuple[int, ...]] = (*_KEYED, 404)
ACCEPTING: Final[tuple[int, ...]] = (*_KEYED, 415, 422)
EXECUTING: Final[tuple[int, ...]] = (*ACCEPTING, 409, 502)
# What only one operation answers.
ALSO: Final[dict[str, tuple[int, ...]]] = {"payments": (402,)}
# A mock of the gateway's own: no function, no key. It looks at a Content-Type even though it takes no body.
OWN: Final[tuple[int, ...]] = (400, 403, 413, 415, 429, 500)
RECEIVING: Final[tuple[int, ...]] = (400, 401, *_GATEWAY, 415)


def components() -> dict[str, Json]:
    """`components.responses`."""
    return {f"Problem{status}": _response(status) for status in STATUSES}


def answers(*statuses: int) -> dict[str, Json]:
    """`responses` of an operation for these statuses."""
    return {str(status): {"$ref": f"#/components/responses/Problem{status}"} for status in sorted(statuses)}


def _response(status: int) -> Json:
    meaning, may_wait = STATUSES[status]
    names = [CORRELATION_HEADER]
    names += ["Retry-After"] if may_wait else []
    names += ["Allow"] if status == 405 else []
    names += REPLAY if status in _REPLAYED else []
    return {
        "description": meaning,
        "headers": references(*names) | (_OF_OWN_SLOT if status == 409 else {}),
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
