"""What execute mode runs: an effect, what it is told, and what it may answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.caller import OperationSettings
    from handlers.domain.operation import Document


# A lease outlives its invocation by so much: what the clocks of two workers, and of the gateway, may differ
# by (DESIGN section 7). Amazon's time service keeps them within a millisecond; a laptop is another matter.
LEASE_MARGIN_MS: Final = 5_000


class Incident(Enum):
    """What happened beside the answer, and is counted under this name."""

    LEASE_LOST = "LeaseLost"
    """An attempt wanted to write, and its claim was another's by then."""
    EFFECT_ORPHANED = "EffectOrphaned"
    """The effect happened, and what is stored under its key is a refusal or another request: a person has to
    undo the one or tell the caller of the other."""
    SEVERAL_CHARGES = "SeveralCharges"
    """The destination knows more than one charge under one key; the first one made is answered."""


@dataclass(frozen=True)
class Attempt:
    """One run of an effect, by the one owner of its claim. Times are ms since the epoch.

    Attributes:
        downstream_key: the idempotency key for the destination: the same for every attempt of a window, new
            for every window.
        generation: of the claim; a conditional write of the effect carries it, so that a successor knows its
            predecessor's write for its own.
        created_at: the arrival of the request that opened the window.
        clock_ms: the worker's clock.
        lease_until: until when this attempt owns the claim.
        resumed: an earlier attempt of this window may have acted.
        checkpoint: what an earlier attempt has saved, or None.
        pinned: what the claim has pinned of the tenant's settings (`ExecuteOperation.pin`), or None.
        save: write a checkpoint (fenced by the claim). Raises Unavailable, or LeaseLost.
        tell: say what people should hear of.
    """

    tenant_id: str
    record_id: str
    downstream_key: str
    generation: str
    body: Document
    settings: OperationSettings
    created_at: int
    clock_ms: Callable[[], int]
    lease_until: int
    resumed: bool
    checkpoint: str | None
    pinned: str | None
    save: Callable[[str], None]
    tell: Callable[[Incident], None]

    def seconds_left(self) -> float:
        """How long this invocation may still run."""
        return (self.lease_until - LEASE_MARGIN_MS - self.clock_ms()) / 1000


@dataclass(frozen=True)
class Effected:
    """The effect happened. `derived`: the members that it adds to the document (a charge's id)."""

    derived: Document


class Effect(Protocol):
    """The function of an execute-mode operation, bound to the ports that it needs."""

    def __call__(self, attempt: Attempt, /) -> Effected:
        """Let it happen, at most once per downstream key.

        Raises:
            FinalRefusal: a final no (declined, slot taken): stored and replayed.
            EffectFailed: it certainly did not happen (of a resumed attempt: see `EffectFailed.of_the_key`).
            EffectUnknown: nobody can say.
            RequestInProgress: the destination says that its key is in use.
            Unavailable: it may have happened, and cannot be looked up.
        """
