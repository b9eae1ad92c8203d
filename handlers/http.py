"""HTTP answers: the only place that knows statuses, and the one table from errors to answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from handlers.domain.errors import (
    BodyTooLarge,
    Declined,
    EffectFailed,
    EffectUnknown,
    FinalRefusal,
    Forbidden,
    InvalidBody,
    InvalidKey,
    KeyReused,
    LookupImpossible,
    NotCharged,
    NotFound,
    OncewardError,
    Refused,
    RequestInProgress,
    RequestRefused,
    SlotTaken,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
)
from handlers.domain.json_text import compact
from handlers.domain.receipt import StoredResponse
from handlers.domain.timestamps import rfc3339
from handlers.http_request import CORRELATION_HEADER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handlers.domain.json_text import JsonValue
    from handlers.domain.operation import AcceptOperation, ExecuteOperation
    from handlers.domain.receipt import Receipt
    from handlers.http_request import HttpRequest

CREATED: Final = 201
ACCEPTED: Final = 202
OK: Final = 200

_SUCCESSES: Final = {"created": CREATED, "accepted": ACCEPTED}

# How soon a caller may try again after an outage: the store's own recovery from a throttle is about a second.
_OUTAGE_RETRY_SECONDS = 1
# What a browser's script may read of our answers; ours are not on the CORS safelist (Fetch standard).
EXPOSED_HEADERS: Final = (
    "Location, ETag, Idempotent-Replayed, Idempotent-Body-Omitted, "
    "Idempotency-First-Seen, Idempotency-Expires, Retry-After, X-Correlation-Id"
)
# RFC 9457 types are URIs; a URN promises no page that is not there.
_TYPE_PREFIX = "urn:onceward:problem:"

# error -> (status, slug, title). The first class that matches counts, so that the order is from leaf to root.
_PROBLEMS: Final[tuple[tuple[type[OncewardError], int, str, str], ...]] = (
    (InvalidKey, 400, "invalid-key", "The idempotency key is not acceptable"),
    (InvalidBody, 400, "invalid-body", "The body is not acceptable"),
    (BodyTooLarge, 413, "body-too-large", "The body is too large"),
    (UnsupportedMediaType, 415, "unsupported-media-type", "The body must be JSON"),
    (Unauthorized, 401, "unauthorized", "The sender is not known"),
    (Forbidden, 403, "forbidden", "Not allowed"),
    (NotFound, 404, "not-found", "Not found"),
    (KeyReused, 422, "key-reused", "The key was used for another request"),
    (RequestInProgress, 409, "request-in-progress", "The first request is still running"),
    (Declined, 402, "declined", "The payment was declined"),
    (SlotTaken, 409, "slot-taken", "The slot is taken"),
    (NotCharged, 502, "not-charged", "No charge was made"),
    (FinalRefusal, 409, "refused", "The request was refused"),
    (EffectFailed, 502, "effect-failed", "What was asked for did not happen"),
    (EffectUnknown, 504, "effect-unknown", "Whether it happened is not known yet"),
    (LookupImpossible, 503, "lookup-impossible", "Whether it happened cannot be looked up"),
    (Unavailable, 503, "store-unavailable", "Temporarily unavailable"),
    # The store answered and refused us: an access right or a key is broken. For the caller, an outage.
    (Refused, 503, "store-unavailable", "Temporarily unavailable"),
)
# What to do about an effect that certainly did not happen: an outage passes, a refusal has a reason.
_FAILED_FOR_NOW: Final = (
    "the destination did not do it; send the request again with the same key, and it runs at once"
)
_FAILED_FOR_GOOD: Final = (
    "the destination refused it, or may not be called as it is set up; have the tenant's settings looked at "
    "before sending the request again (with the same key)"
)
_INTERNAL = (500, "internal-error", "Internal error")


def success_status(operation: AcceptOperation | ExecuteOperation) -> int:
    """The status of a first answer."""
    return _SUCCESSES[operation.answer]


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
    if isinstance(error, SlotTaken) and error.location is not None:
        headers["Location"] = error.location
    return {"statusCode": status, "headers": headers, "body": compact(body)}


def final(refusal: FinalRefusal, request: HttpRequest) -> StoredResponse:
    """A final refusal as the answer that is stored, and replayed as such."""
    made = problem(refusal, request)
    return StoredResponse(made["statusCode"], made["headers"], made["body"])


def answer(response: StoredResponse, *, replay_of: Receipt | None = None) -> dict[str, Any]:
    """A stored answer, first or replayed: same status, same headers, same bytes.

    `replay_of`: the receipt that a replay comes from; its window goes along.
    """
    headers = dict(response.headers)
    if replay_of is not None:
        headers |= {
            "Idempotent-Replayed": "true",
            "Idempotency-First-Seen": rfc3339(replay_of.created_at),
            "Idempotency-Expires": rfc3339(replay_of.expires_at),
        }
    if response.body is None:
        headers["Idempotent-Body-Omitted"] = "too-large"
    return {"statusCode": response.status, "headers": headers, "body": response.body or ""}


def finish(result: dict[str, Any], request: HttpRequest, cors_origins: Sequence[str]) -> dict[str, Any]:
    """Add what every answer carries: the correlation id, and CORS for an origin that the stage knows."""
    # Vary also where the origin is not let in: a cache must not give its answer to an origin that is.
    result["headers"] |= {CORRELATION_HEADER: request.correlation_id, "Vary": "Origin"}
    origin = request.header("Origin")
    if origin is not None and ("*" in cors_origins or origin in cors_origins):
        result["headers"] |= {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": EXPOSED_HEADERS,
        }
    return result


def _detail(error: OncewardError | None) -> str:
    if isinstance(error, RequestRefused):
        return error.detail
    if isinstance(error, RequestInProgress):
        return f"{error}; try again in {error.retry_after_seconds} s"
    if isinstance(error, EffectFailed):
        return _FAILED_FOR_NOW if error.may_pass else _FAILED_FOR_GOOD
    if isinstance(error, EffectUnknown):
        return (
            "the destination has not said whether it did it; send the request again with the same key, "
            "and it will not be done twice"
        )
    if isinstance(error, LookupImpossible):
        return (
            "it may have happened, and cannot be asked for any more; people on our side have been told. "
            "A retry with the same key does no harm; one with a new key might do it twice"
        )
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
