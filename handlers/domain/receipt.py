"""The receipt: the stored fact that a key was accepted, and everything that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1  # of the receipt item; a reader that meets a higher one must not guess

_DAY_SECONDS = 24 * 60 * 60
# TTL must not sweep away an undispatched outbox or an unfinished claim (DESIGN section 7): a stream keeps
# records for 24 hours and `dispatch replay` is run by people, who have a weekend and a bank holiday.
MIN_KEPT_SECONDS = 8 * _DAY_SECONDS


class Status(Enum):
    """Whether the request behind a receipt is answered."""

    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"


@dataclass(frozen=True)
class StoredResponse:
    """The first answer, as it will be replayed.

    Attributes:
        status: the HTTP status.
        headers: the allow-listed ones only (Location, Content-Type, ETag).
        body: the exact text that was answered; None when it was too large to keep.
    """

    status: int
    headers: dict[str, str]
    body: str | None


@dataclass(frozen=True)
class Outbox:
    """What must follow from the acceptance, stored in the same write as the acceptance.

    Attributes:
        event_id: the event's id (a ULID), the same on every delivery.
        type: the event's type, such as ``lead.created``.
        record_id: the business object's id (a ULID).
        document: the business object as JSON text; it is stored, published and answered byte for byte.
    """

    event_id: str
    type: str
    record_id: str
    document: str


@dataclass(frozen=True)
class Receipt:
    """One item of the receipts table. Times are ms since the epoch, but for `purge_at` (seconds).

    Attributes:
        tenant_id, key: together the item's partition key.
        operation: the operation's name, such as ``leads``.
        fingerprint: SHA-256 over operation and canonical body (64 hex digits).
        owner: random, new for every claim: who wrote this.
        generation: random, new for every window; ids follow from it.
        lease_until: until when the owner of a claim in progress may be running; 0 when there is no lease.
        created_at: the arrival of the request that opened the window.
        expires_at: the end of the window.
        purge_at: SECONDS since the epoch: when TTL may delete the item.
        response: None while in progress.
        outbox: None while in progress, and of a final refusal: nothing follows from it.
        checkpoint: what an effect has saved for the attempt that resumes it, in its own words.
        fields: a short hash of each top-level member of the body (`domain.member_hashes`), so that a refusal
            can name what differs; empty where there are none, or too many.
        pinned: what an execute-mode claim has pinned of its tenant's settings (`ExecuteOperation.pin`).
        body_hash: of the whole body, where the fingerprint does not cover it (webhooks).
        detailed_metrics: whether `dispatch` is to count it in detail, for its tenant.
    """

    tenant_id: str
    key: str
    operation: str
    fingerprint: str
    status: Status
    owner: str
    generation: str
    lease_until: int
    created_at: int
    expires_at: int
    purge_at: int
    correlation_id: str
    response: StoredResponse | None
    outbox: Outbox | None
    checkpoint: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    body_hash: str | None = None
    pinned: str | None = None
    detailed_metrics: bool = False


def purge_at(created_at_ms: int, expires_at_ms: int) -> int:
    """When TTL may delete a receipt, in SECONDS: after its window, and 8 days at the least."""
    # Both rounded up: a receipt of the last ms of a second is kept for its 8 days, too.
    created_seconds, expires_seconds = -(-created_at_ms // 1000), -(-expires_at_ms // 1000)
    return max(created_seconds + MIN_KEPT_SECONDS, expires_seconds + 1)
