"""What a run came to: filled in while it runs, so that one that breaks off has a table, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chaos.again import Retried
    from chaos.tally import Tally
    from loadtest.verdict import Verdict


@dataclass(slots=True)
class Outcome:
    """What a run came to.

    Attributes:
        lost: receipts whose stream record the restart lost, brought back by `dispatch replay`.
        unexplained: receipts (`tenant#key`) without a record, though the restart cannot have lost them.
        republished: receipts whose record was there when the restart lost what should have followed; all of
            the run were published again for them.
        redriven: letters sent back, by queue.
        delivered, bus_again: events of orders that `notify` took, and calls of it made again (`chaos.bus`).
        retried: the retries of the end.
        waiting: messages in the queues of work and the bus's at the very end. left: letters in the
            dead-letter queues.
        seconds: the whole run.
    """

    tally: Tally
    lost: int = 0
    unexplained: tuple[str, ...] = ()
    republished: int = 0
    redriven: dict[str, int] = field(default_factory=dict)
    delivered: int = 0
    bus_again: int = 0
    retried: Retried | None = None
    waiting: int = 0
    left: dict[str, int] = field(default_factory=dict)
    verdict: Verdict | None = None
    seconds: float = 0.0
