"""Accept mode: one conditional write is claim, result and outbox together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from handlers.domain import documents, member_hashes
from handlers.domain.errors import Unavailable
from handlers.domain.ports import Written
from handlers.domain.protocol import Lapsed, Replay, Won, decide
from handlers.domain.receipt import Receipt, Status, StoredResponse, purge_at
from handlers.domain.refusals import claim_of, refusal

if TYPE_CHECKING:
    from handlers.domain.caller import OperationSettings
    from handlers.domain.operation import AcceptOperation
    from handlers.domain.ports import ReceiptStore
    from handlers.domain.request import Request


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
    """An earlier request took effect; `response` is its answer, `receipt` says when and until when.

    Attributes:
        body_changed: this one's body is another, which its fingerprint allows (see `Identity.body_hash`).
    """

    receipt: Receipt
    response: StoredResponse
    body_changed: bool = False


Outcome: TypeAlias = Accepted | Replayed


def accept(
    store: ReceiptStore, operation: AcceptOperation, settings: OperationSettings, request: Request
) -> Outcome:
    """Let the request take effect once.

    Raises:
        BodyTooLarge: the event would be over MAX_EVENT_BYTES; nothing is written.
        KeyReused: the key is in use for another operation or body; it names the members that differ.
        RequestInProgress: the first request still runs.
        Unavailable: the store cannot say, or holds an unfinished claim of another mode.
    """
    claim = claim_of(operation.name, request)
    response, receipt = _build(operation, settings, request)
    dropped = receipt.response != response
    outcome = store.put(receipt, claim)
    if isinstance(outcome, Written):
        return Accepted(receipt, response, outcome.abandoned, dropped)
    decision = decide(outcome.existing, claim)
    if isinstance(decision, Won):
        return Accepted(receipt, response, abandoned=False, body_dropped=dropped)
    if isinstance(decision, Replay):
        return Replayed(decision.receipt, decision.response, _body_changed(decision.receipt, request))
    if isinstance(decision, Lapsed):
        # Accept mode leaves nothing unfinished, and an operation has one mode: only an item written by hand,
        # or by a later release with another mode for this operation, gets here. Never overwritten, never 2xx.
        reason = f"an unfinished claim of {decision.receipt.operation} holds this key"
        raise Unavailable("receipts", reason)
    raise refusal(decision, outcome.existing, request.identity)


def _body_changed(first: Receipt, request: Request) -> bool:
    # A receipt of an earlier release has no hash: nothing is known of its body.
    return first.body_hash is not None and first.body_hash != request.identity.body_hash


def _build(
    operation: AcceptOperation, settings: OperationSettings, request: Request
) -> tuple[StoredResponse, Receipt]:
    """The first answer, and the receipt that holds it together with what must follow."""
    identity = request.identity
    made = documents.Ids.of(request.tenant_id, identity.key, request.generation, request.arrival_ms)
    derived = operation.derive(request.body)
    text = documents.document(operation, request, made, derived)
    documents.check_announcement(operation.name, text)
    response = documents.first_answer(operation, request, made, derived)
    expires_at = request.arrival_ms + settings.window_seconds * 1000
    receipt = Receipt(
        tenant_id=request.tenant_id,
        key=identity.key,
        operation=operation.name,
        fingerprint=identity.fingerprint,
        status=Status.COMPLETED,
        owner=request.owner,
        generation=request.generation,
        lease_until=0,
        created_at=request.arrival_ms,
        expires_at=expires_at,
        purge_at=purge_at(request.arrival_ms, expires_at),
        correlation_id=request.correlation_id,
        response=documents.storable(response, text),
        outbox=documents.outbox(operation, made, text),
        fields=member_hashes.hashes(identity.members, request.generation),
        body_hash=identity.body_hash,
        detailed_metrics=request.detailed_metrics,
    )
    return response, receipt
