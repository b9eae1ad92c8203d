"""A record with work as its worker sees it, and what a claim that was refused means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from handlers.domain.outbox import Delivery
    from handlers.domain.work import Work
    from handlers.domain.work_message import WorkMessage


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A record with work. Times are ms since the epoch.

    Attributes:
        delivery: what was accepted.
        status: one of its `Work`'s words.
        attempts: how often it was claimed.
        owner: who claimed it last, or None.
        lease_until: until when that one may be at it; 0 when nobody is.
    """

    delivery: Delivery
    status: str
    attempts: int
    owner: str | None
    lease_until: int


@dataclass(frozen=True, slots=True)
class WorkClaim:
    """One attempt's claim. `owner`: random, new for every attempt. `now_ms`: the worker's clock."""

    work: Work
    message: WorkMessage
    owner: str
    now_ms: int
    lease_until: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """It is ours until the lease ends."""

    item: WorkItem


@dataclass(frozen=True, slots=True)
class AlreadyDone:
    """It is done, by us or another: the message has nothing to say any more."""


@dataclass(frozen=True, slots=True)
class TwinAtWork:
    """Another attempt is at it until `lease_until`: the message must outlive that attempt."""

    lease_until: int


@dataclass(frozen=True, slots=True)
class NoSuchWork:
    """There is no record of this event."""


ClaimOutcome: TypeAlias = Claimed | AlreadyDone | TwinAtWork | NoSuchWork


class WorkStore(Protocol):
    """Records with work. A fake and the table pass the same contract suite (tests/contract).

    All three raise Unavailable (whether it was written is unknown), Refused or CorruptItem.
    """

    def claim(self, claim: WorkClaim) -> ClaimOutcome:
        """Take the work, unless it is done or another attempt is at it: one conditional write."""

    def finish(self, claim: WorkClaim, now_ms: int) -> bool:
        """Mark the work done if the claim still holds. False: it does not, and another may be at it."""

    def fail(self, claim: WorkClaim, now_ms: int, *, final: bool) -> None:
        """Give the claim back so that the next attempt need not wait; nothing when it was lost.

        `final`: the work has failed, and only an operator brings it back.
        """


def decide(existing: WorkItem | None, claim: WorkClaim) -> ClaimOutcome:
    """What it means that `existing` refused `claim`."""
    if existing is None or existing.delivery.event_id != claim.message.event_id:
        return NoSuchWork()
    # Before anything is said of owners: whoever still has one on what is done must not do it again.
    if existing.status == claim.work.done:
        return AlreadyDone()
    if existing.owner == claim.owner:
        # The write took effect, its answer was lost, and the SDK sent it again.
        return Claimed(existing)
    return TwinAtWork(existing.lease_until)
