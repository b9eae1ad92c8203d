"""Accept mode: one conditional write is claim, result and outbox together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from handlers.domain import ids, keys
from handlers.domain.canonical_json import canonical
from handlers.domain.errors import BodyTooLarge, KeyReused, RequestInProgress, Unavailable
from handlers.domain.fingerprint import body_hash, fingerprint
from handlers.domain.json_text import compact
from handlers.domain.message_text import MAX_EVENT_BYTES, for_a_message
from handlers.domain.ports import Written
from handlers.domain.protocol import Claim, InProgress, Lapsed, Mismatch, Replay, Won, decide
from handlers.domain.receipt import Outbox, Receipt, Status, StoredResponse, purge_at
from handlers.domain.timestamps import rfc3339

if TYPE_CHECKING:
    from handlers.domain.caller import OperationSettings
    from handlers.domain.errors import OncewardError
    from handlers.domain.operation import AcceptOperation, Document
    from handlers.domain.ports import ReceiptStore

# The envelope around the document: nine CloudEvents attributes, each bounded by our own rules; about 600
# bytes in practice.
_EVENT_ENVELOPE_BYTES = 2 * 1024

# DynamoDB takes items of 400 KB, attribute names included (service quotas; it counts 1,024 bytes a KB, and we
# do not rely on it). Document and body are all but about 2,000 bytes of an item.
_MAX_TEXT_BYTES = 400_000 - 8_000


@dataclass(frozen=True)
class Request:
    """One request, checked: everything the write needs.

    Attributes:
        key: from the header, or None.
        body: the validated body; `body_text` is the same as JSON text, as it was sent, for the record.
        arrival_ms: when it reached the gateway.
        clock_ms: the worker's clock.
        owner, generation: fresh randomness, made by the caller of `accept`.
        success_status: the HTTP status of a first answer (only `handlers.http` knows statuses).
    """

    tenant_id: str
    key: str | None
    body: Document
    body_text: str
    correlation_id: str
    arrival_ms: int
    clock_ms: int
    owner: str
    generation: str
    success_status: int


@dataclass(frozen=True)
class Accepted:
    """This request is the one that takes effect.

    Attributes:
        abandoned: it replaced a claim nobody finished.
        body_dropped: the answer was too large to keep, so that its replays come without a body.
    """

    receipt: Receipt
    response: StoredResponse
    abandoned: bool
    body_dropped: bool


@dataclass(frozen=True)
class Replayed:
    """An earlier request took effect; `response` is its answer."""

    receipt: Receipt
    response: StoredResponse


Outcome: TypeAlias = Accepted | Replayed


def accept(
    store: ReceiptStore, operation: AcceptOperation, settings: OperationSettings, request: Request
) -> Outcome:
    """Let the request take effect once.

    Raises:
        InvalidKey: a key is required and none came.
        BodyTooLarge: the event would be over MAX_EVENT_BYTES; nothing is written.
        KeyReused: the key is in use for another operation or body.
        RequestInProgress: the first request still runs.
        Unavailable: the store cannot say, or holds an unfinished claim of another mode.
    """
    claim = _claim(operation, settings, request)
    response, receipt = _build(operation, settings, request, claim)
    dropped = receipt.response != response
    outcome = store.put(receipt, claim)
    if isinstance(outcome, Written):
        return Accepted(receipt, response, outcome.abandoned, dropped)
    decision = decide(outcome.existing, claim)
    if isinstance(decision, Won):
        return Accepted(receipt, response, abandoned=False, body_dropped=dropped)
    if isinstance(decision, Replay):
        return Replayed(decision.receipt, decision.response)
    raise _refusal(decision)


def _refusal(decision: InProgress | Mismatch | Lapsed) -> OncewardError:
    if isinstance(decision, Mismatch):
        return KeyReused(
            f"this key was used for another request ({decision.operation}); "
            "send a new key with a new request, or the same body with this one"
        )
    if isinstance(decision, InProgress):
        return RequestInProgress(decision.seconds_left)
    # Accept mode leaves nothing unfinished, and an operation has one mode: only an item written by hand, or
    # by a later release with another mode for this operation, gets here. Never overwritten, never a 2xx.
    return Unavailable("receipts", f"an unfinished claim of {decision.receipt.operation} holds this key")


def _claim(operation: AcceptOperation, settings: OperationSettings, request: Request) -> Claim:
    canonical_body = canonical(request.body)
    return Claim(
        tenant_id=request.tenant_id,
        key=_key(operation, settings, request.key, canonical_body),
        operation=operation.name,
        fingerprint=fingerprint(operation.name, canonical_body),
        owner=request.owner,
        arrival_ms=request.arrival_ms,
        clock_ms=request.clock_ms,
    )


def _key(
    operation: AcceptOperation, settings: OperationSettings, sent: str | None, canonical_body: bytes
) -> str:
    if sent is not None:
        return sent
    if settings.key_source == "header":
        raise keys.missing(operation.name)
    return keys.derived(operation.name, "body", body_hash(canonical_body))


def _build(
    operation: AcceptOperation, settings: OperationSettings, request: Request, claim: Claim
) -> tuple[StoredResponse, Receipt]:
    """The first answer, and the receipt that holds it together with what must follow."""
    identity = (claim.tenant_id, claim.key, request.generation)
    record_id = ids.record_id(*identity, claim.arrival_ms)
    created: Document = {"id": record_id, "createdAt": rfc3339(claim.arrival_ms)}
    derived = operation.derive(request.body)
    document = _document(created, operation.record_name, request.body_text, derived)
    _check_event_size(document)
    response = _first_answer(operation, created, derived, request.success_status)
    event_id = ids.event_id(*identity, claim.arrival_ms)
    expires_at = claim.arrival_ms + settings.window_seconds * 1000
    receipt = Receipt(
        tenant_id=claim.tenant_id,
        key=claim.key,
        operation=claim.operation,
        fingerprint=claim.fingerprint,
        status=Status.COMPLETED,
        owner=claim.owner,
        generation=request.generation,
        lease_until=0,
        created_at=claim.arrival_ms,
        expires_at=expires_at,
        purge_at=purge_at(claim.arrival_ms, expires_at),
        correlation_id=request.correlation_id,
        response=_storable(response, document),
        outbox=Outbox(event_id, operation.event_type, record_id, document),
    )
    return response, receipt


def _check_event_size(document: str) -> None:
    # Measured as the event will carry it: a document that grows past the limit on its way out would be an
    # accepted request that nobody hears of.
    if len(for_a_message(document).encode()) > MAX_EVENT_BYTES - _EVENT_ENVELOPE_BYTES:
        raise BodyTooLarge(f"the event made of this body would be over {MAX_EVENT_BYTES} bytes")


def _first_answer(
    operation: AcceptOperation, created: Document, derived: Document, status: int
) -> StoredResponse:
    answer: Document = {**created, **{name: derived[name] for name in operation.answered}}
    location = operation.path.format(id=created["id"])
    headers = {"Content-Type": "application/json", "Location": location}
    return StoredResponse(status, headers, compact(answer))


def _document(created: Document, record_name: str, body_text: str, derived: Document) -> str:
    # The body goes in as text: parsed and written again, 1.50 would be 1.5, and a 20th decimal gone.
    members = [compact(created)[1:-1], f"{compact(record_name)}:{body_text}"]
    members += [compact(derived)[1:-1]] if derived else []
    return "{" + ",".join(members) + "}"


def _storable(response: StoredResponse, document: str) -> StoredResponse:
    """Keep what fits the item: status and headers always, the body unless it is too large.

    The effect is never run again for that: a replay says that the body was not kept.
    """
    body_bytes = len((response.body or "").encode())
    if len(document.encode()) + body_bytes > _MAX_TEXT_BYTES:
        return replace(response, body=None)
    return response
