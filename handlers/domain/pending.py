"""Work that is pending too long: when its message is taken for lost, and sent again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from handlers.domain.work_message import WorkMessage

# A message is worked on within a second or so, and a failing one is touched every four minutes or more often
# (handlers.adapters.work_batch): what nobody touched for five has lost its message, or waits in a long queue.
PERIOD_MS: Final = 5 * 60_000
# In a long queue another message helps nobody, so each is followed by twice the wait, up to an hour: a lost
# message costs an hour at the most, and a backlog of a day few messages for a piece of work.
LONGEST_PERIOD_MS: Final = 60 * 60_000
# After that, about a day of it, sending again has helped nobody: the work kills its function each time, say,
# which can mark nothing. A person is told, and what still has a message is worked on all the same.
MOST_REQUEUES: Final = 24


@dataclass(frozen=True, slots=True)
class PendingWork:
    """Work as the index of pending work has it, a moment old. Times are ms since the epoch.

    Attributes:
        since: since when it is pending.
        requeued_at: when it was last sent again; None when it never was.
        requeues: how often it was.
    """

    message: WorkMessage
    since: int
    requeued_at: int | None
    requeues: int


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a shard, oldest first.

    Attributes:
        unreadable: how many items of it lack what every one has.
        next: where the next part begins, None after the last.
    """

    items: tuple[PendingWork, ...]
    unreadable: int
    next: object | None


class PendingIndex(Protocol):
    """The sparse index of pending work, and the writes that let a piece of it be sent again or given up.

    All raise Unavailable or Refused.
    """

    def page(self, shard: str, start: object | None) -> Page:
        """A page of a shard, from its oldest work or from where another page ended (its `next`)."""

    def mark_requeued(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
        """Note that a message is being sent, unless somebody else did, is at the work, or has finished it.

        `quiet_since_ms`: nobody may have touched it since.
        """

    def give_up(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
        """Mark work as failed under the same conditions: it is pending no more.

        A message brings it back, and its periods begin anew.
        """


def period_ms(requeues: int) -> int:
    """How long work waits, untouched, for its message number `requeues` + 1 to be sent again, ms."""
    return min(PERIOD_MS << min(requeues, 16), LONGEST_PERIOD_MS)


def is_overdue(work: PendingWork, now_ms: int) -> bool:
    """Whether the work is pending for so long that it is counted."""
    return now_ms - work.since >= PERIOD_MS


def is_hopeless(work: PendingWork) -> bool:
    """Whether the work was sent again so often that once more would not help."""
    return work.requeues >= MOST_REQUEUES


def is_due(work: PendingWork, now_ms: int) -> bool:
    """Whether it is time to send the work again."""
    since = work.since if work.requeued_at is None else work.requeued_at
    return now_ms - since >= period_ms(work.requeues)
