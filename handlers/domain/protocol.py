"""The decision: what a lost write means for the caller. Pure; the store has already decided who was first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from handlers.domain.receipt import Receipt, Status

if TYPE_CHECKING:
    from handlers.domain.receipt import StoredResponse

_MS_PER_SECOND = 1000


@dataclass(frozen=True)
class Claim:
    """What one attempt brings to the write.

    Attributes:
        owner: random, fresh for this attempt; never a request or message id, which Lambda's retries reuse.
        arrival_ms: when the request reached the gateway; the window is judged by it, in the condition and in
            the decision alike.
        clock_ms: the worker's clock, read once; leases are judged by it.
    """

    tenant_id: str
    key: str
    operation: str
    fingerprint: str
    owner: str
    arrival_ms: int
    clock_ms: int


@dataclass(frozen=True)
class Won:
    """This attempt's own write is the stored one, also when the SDK sent it twice."""


@dataclass(frozen=True)
class Replay:
    """The first request is answered: `response` is that answer."""

    receipt: Receipt
    response: StoredResponse


@dataclass(frozen=True)
class InProgress:
    """The first request is still running, for `seconds_left` (1 or more) at the most."""

    seconds_left: int


@dataclass(frozen=True)
class Mismatch:
    """The key is in use for another request."""

    operation: str


@dataclass(frozen=True)
class Lapsed:
    """The first request's lease is over and it never finished: its claim is there to be taken over."""

    receipt: Receipt


Decision: TypeAlias = Won | Replay | InProgress | Mismatch | Lapsed


def decide(existing: Receipt, claim: Claim) -> Decision:
    """Say what `existing`, the item that the refused write brought back, means for `claim`.

    Own writes come first (the SDK may have retried a write that had succeeded), then the mismatch: another
    request under this key is 422 also while the first still runs.
    """
    if existing.owner == claim.owner:
        return Won()
    if existing.fingerprint != claim.fingerprint:
        return Mismatch(existing.operation)
    if existing.status is Status.COMPLETED and existing.response is not None:
        return Replay(existing, existing.response)
    if existing.lease_until > claim.clock_ms:
        left_ms = existing.lease_until - claim.clock_ms
        return InProgress(max(1, -(-left_ms // _MS_PER_SECOND)))
    return Lapsed(existing)
