"""The way to a claim: won, taken over, or refused because of who holds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from handlers.domain import member_hashes
from handlers.domain.accept import Replayed
from handlers.domain.errors import Unavailable
from handlers.domain.ports import Gone, TakenOver, Written
from handlers.domain.protocol import Lapsed, Replay, Won, decide
from handlers.domain.receipt import Receipt, Status, purge_at
from handlers.domain.refusals import claim_of, refusal

if TYPE_CHECKING:
    from handlers.domain.ports import ReceiptStore, TakeOverOutcome
    from handlers.domain.request import Request

# One write is the rule, two are a takeover. More are needed only when others win each time in between, and
# each of those has made progress; three writes of 7 s at worst still leave time to answer.
_WRITES = 3


@dataclass(frozen=True)
class Wanted:
    """The claim that is asked for. Times are ms (`lease_until` since the epoch).

    Attributes:
        pinned: what a new claim keeps of the tenant's settings (`ExecuteOperation.pin`).
    """

    operation: str
    window_ms: int
    lease_until: int
    pinned: str | None


@dataclass(frozen=True)
class Acquired:
    """The claim is this attempt's.

    Attributes:
        receipt: as it stands in the table.
        taken_over: an earlier attempt held it, and may have acted.
        abandoned: it replaced another request's claim that nobody finished.
    """

    receipt: Receipt
    taken_over: bool
    abandoned: bool


def acquire(store: ReceiptStore, wanted: Wanted, request: Request) -> Acquired | Replayed:
    """Claim the key, take its lapsed claim over, or find the answer that is there.

    Raises:
        KeyReused, RequestInProgress: another request or attempt holds the key.
        Unavailable: the store cannot say, or others were quicker each time.
    """
    claim = claim_of(wanted.operation, request)
    existing: Receipt | None = None
    for _ in range(_WRITES):
        if existing is None:
            fresh = _fresh(wanted, request)
            put = store.put(fresh, claim)
            if isinstance(put, Written):
                return Acquired(fresh, taken_over=False, abandoned=put.abandoned)
            existing = put.existing
        decision = decide(existing, claim)
        if isinstance(decision, Won):
            return Acquired(existing, taken_over=False, abandoned=False)
        if isinstance(decision, Replay):
            return Replayed(decision.receipt, decision.response)
        if not isinstance(decision, Lapsed):
            raise refusal(decision, existing, request.identity)
        taken = _take_over(store, wanted, request, existing)
        if isinstance(taken, TakenOver):
            # Not the image that the failed claim brought: its last owner may have saved a checkpoint since.
            return Acquired(taken.receipt, taken_over=True, abandoned=False)
        existing = None if isinstance(taken, Gone) else taken.existing
    raise Unavailable("receipts", "the claim changed hands each time it was asked for")


def _take_over(store: ReceiptStore, wanted: Wanted, request: Request, lapsed: Receipt) -> TakeOverOutcome:
    # Also when its window is over: overwritten, its effect could happen twice.
    expires_at = max(lapsed.created_at + wanted.window_ms, wanted.lease_until)
    return store.take_over(lapsed, claim_of(wanted.operation, request), wanted.lease_until, expires_at)


def _fresh(wanted: Wanted, request: Request) -> Receipt:
    # Until it is completed the window lasts as long as the lease at least: an answer that comes after a short
    # window must not find its claim overwritten.
    expires_at = max(request.arrival_ms + wanted.window_ms, wanted.lease_until)
    return Receipt(
        tenant_id=request.tenant_id,
        key=request.identity.key,
        operation=wanted.operation,
        fingerprint=request.identity.fingerprint,
        status=Status.IN_PROGRESS,
        owner=request.owner,
        generation=request.generation,
        lease_until=wanted.lease_until,
        created_at=request.arrival_ms,
        expires_at=expires_at,
        purge_at=purge_at(request.arrival_ms, expires_at),
        correlation_id=request.correlation_id,
        response=None,
        outbox=None,
        fields=member_hashes.hashes(request.identity.members, request.generation),
        body_hash=request.identity.body_hash,
        pinned=wanted.pinned,
        detailed_metrics=request.detailed_metrics,
    )
