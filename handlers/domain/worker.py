"""One piece of work: claimed, done, marked; or given back so that the next attempt need not wait."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from handlers.domain.errors import LeaseLost, OncewardError, Refused, Unavailable, where
from handlers.domain.work_item import AlreadyDone, NoSuchWork, TwinAtWork

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.outbox import Delivery
    from handlers.domain.work_item import WorkClaim, WorkItem, WorkStore


class TwinInProgress(OncewardError):
    """Another attempt is at it until `lease_until` (ms): not to be acknowledged, it may yet fail."""

    def __init__(self, lease_until: int) -> None:
        super().__init__("another attempt is at it")
        self.lease_until = lease_until


class WorkGone(OncewardError):
    """The message's record is not there, or is another event's."""


class GivenUp(OncewardError):
    """It has failed as often as the queue allows: the record says so, and the message waits for a person."""


class Ended(Enum):
    """How a piece of work ended whose message has nothing to say any more."""

    DONE = "done"
    DONE_BEFORE = "done_before"


class Act(Protocol):
    """What the work is. Running it twice must be the same as running it once."""

    def __call__(self, delivery: Delivery, /) -> None:
        """Do it.

        Raises:
            Unavailable, Refused: what we need ourselves does not answer: no fault of this piece of work.
            OncewardError: any other is its own, or its destination's.
        """


@dataclass(frozen=True)
class Turn:
    """One attempt at a piece of work.

    Attributes:
        clock_ms: the worker's clock.
        last: the queue brings the message no more after this attempt.
        claimed: is told of the item once it is ours.
    """

    claim: WorkClaim
    clock_ms: Callable[[], int]
    last: bool
    claimed: Callable[[WorkItem], None]


def work(turn: Turn, store: WorkStore, act: Act) -> Ended:
    """Do the work that `turn` names, unless it is done.

    Raises:
        TwinInProgress, WorkGone, LeaseLost, GivenUp: see there.
        Unavailable, Refused: an outage of ours, after which the work stays pending.
        OncewardError: what `act` raised, and another attempt is due.
    """
    outcome = store.claim(turn.claim)
    if isinstance(outcome, AlreadyDone):
        return Ended.DONE_BEFORE
    if isinstance(outcome, TwinAtWork):
        raise TwinInProgress(outcome.lease_until)
    if isinstance(outcome, NoSuchWork):
        raise WorkGone("there is no record of this event")
    _act(turn, outcome.item, store, act)
    # When its outcome is unknown the claim is not given back: it may be marked, and if not, the lease ends.
    if not store.finish(turn.claim, turn.clock_ms()):
        raise LeaseLost("another attempt took over before this one was marked")
    return Ended.DONE


def _act(turn: Turn, item: WorkItem, store: WorkStore, act: Act) -> None:
    try:
        turn.claimed(item)
        act(item.delivery)
    except (Unavailable, Refused):
        # Ours to mend. Marked as failed it would wait for a person; pending, the reconciler brings it back.
        _give_back(turn, store, final=False)
        raise
    except Exception as error:
        _give_back(turn, store, final=turn.last)
        if turn.last:
            raise GivenUp(str(error) if isinstance(error, OncewardError) else where(error)) from error
        raise
    except BaseException:
        _give_back(turn, store, final=False)
        raise


def _give_back(turn: Turn, store: WorkStore, *, final: bool) -> None:
    try:
        store.fail(turn.claim, turn.clock_ms(), final=final)
    except OncewardError:
        # What went wrong before says more. The lease ends by itself, and unmarked work stays pending.
        return
