"""What the domain needs of the outside world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt


@dataclass(frozen=True)
class Written:
    """The write took effect. `abandoned` when it replaced a claim that its owner never finished."""

    abandoned: bool


@dataclass(frozen=True)
class Held:
    """The write was refused; `existing` is the item that stands there, as the refusal brought it back."""

    existing: Receipt


@dataclass(frozen=True)
class TakenOver:
    """The claim is the caller's; `receipt` is the item as it stands now, to resume from."""

    receipt: Receipt


@dataclass(frozen=True)
class Gone:
    """The write was refused, and no item stands there: evicted, or swept away."""


@dataclass(frozen=True)
class Done:
    """The owner's write took effect."""


PutOutcome: TypeAlias = Written | Held
TakeOverOutcome: TypeAlias = TakenOver | Held | Gone
OwnersOutcome: TypeAlias = Done | Held | Gone


class ReceiptStore(Protocol):
    """The receipts table. A fake and the real one pass the same contract suite (tests/contract).

    Each method is one conditional write, and no read. Each raises Unavailable when it is unknown whether the
    write happened, and CorruptItem when the item that stands there is no receipt. A write that was sent
    twice, since its first answer was lost, recognises itself.
    """

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        """Write `receipt` if, and only if, its key is free for `claim`."""

    def take_over(self, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int) -> TakeOverOutcome:
        """Make a lapsed claim the claim of `claim.owner`, unless anyone has touched it since.

        Generation, checkpoint and all else stay. `lease_until` and `expires_at` in ms since the epoch.
        """

    def checkpoint(self, owned: Receipt, text: str) -> OwnersOutcome:
        """Save what the successor needs to resume, while `owned.owner` owns the claim."""

    def complete(self, owned: Receipt) -> OwnersOutcome:
        """Write the answer, the outbox and the times of `owned`, while it owns the claim."""

    def release(self, owned: Receipt) -> OwnersOutcome:
        """End the lease of `owned`, so that a retry takes over at once, while it owns the claim."""
