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


PutOutcome: TypeAlias = Written | Held


class ReceiptStore(Protocol):
    """The receipts table. A fake and the real one pass the same contract suite (tests/contract)."""

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        """Write `receipt` if, and only if, its key is free for `claim`: one conditional write, no read.

        Raises:
            Unavailable: whether the write happened is unknown.
            CorruptItem: the item that stands there is no receipt.
        """
