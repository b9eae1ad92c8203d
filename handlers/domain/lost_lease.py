"""What an attempt answers whose claim was another's when it wanted to write: what is stored, nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from handlers.domain.accept import Replayed
from handlers.domain.errors import RequestInProgress, Unavailable
from handlers.domain.ports import Gone
from handlers.domain.protocol import InProgress, Mismatch, Replay, decide
from handlers.domain.receipt import Status
from handlers.domain.refusals import claim_of, refusal

if TYPE_CHECKING:
    from handlers.domain.ports import Held
    from handlers.domain.receipt import Receipt
    from handlers.domain.request import Request


def answer(found: Held | Gone, operation: str, request: Request, clock_ms: int) -> Replayed:
    """The stored answer; never the own, unstored result.

    Args:
        found: what refused the write.
        clock_ms: the worker's clock now, which is long after the request's.

    Raises:
        RequestInProgress: a successor runs, or its lease is over too.
        Unavailable: the claim was evicted, or its key is another request's by now.
    """
    if isinstance(found, Gone):
        raise Unavailable("receipts", "the claim was evicted while its request ran")
    claim = replace(claim_of(operation, request), clock_ms=clock_ms)
    decision = decide(found.existing, claim)
    if isinstance(decision, Replay):
        return Replayed(decision.receipt, decision.response)
    if isinstance(decision, Mismatch):
        # Not its own mistake, as a 422 would say: it was here first, and the other came when its lease and
        # its window were over.
        raise Unavailable("receipts", "the claim lapsed, and its key is another request's by now")
    if isinstance(decision, InProgress):
        raise refusal(decision, found.existing, request.identity)
    # Its successor's lease is over too, and a retry takes over at once. (Own and in progress is what the
    # write's condition asks for, so that no refusal can bring it back.)
    raise RequestInProgress(1)


def is_told(found: Held | Gone, mine: Receipt) -> bool:
    """Whether what stands there tells, or will tell, of the effect that the owner of `mine` saw happen."""
    if isinstance(found, Gone) or found.existing.generation != mine.generation:
        return False
    return found.existing.status is Status.IN_PROGRESS or found.existing.outbox is not None
