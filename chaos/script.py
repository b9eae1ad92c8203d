"""What happens to the platform as a whole, and when: in attempts sent, since time is no one's to repeat."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from chaos.faults import Schedule


class Act(Enum):
    """One thing that is done once at its time."""

    ARM = "faults of calls begin"
    DELAY_QUEUES = "the queues of work hold back what is sent"
    FLOW_QUEUES = "they hand out at once again"
    COPY_STREAM = "old records of the stream are handed to dispatch again"
    OUTAGE = "the store throttles dispatch, for a while"
    RECOVER = "it lets dispatch through again"
    HOLD_DISPATCH = "the store throttles dispatch"
    RESTART = "the local AWS is stopped and started"


@dataclass(frozen=True, slots=True)
class Occasion:
    """When so many attempts are in the history, this happens. `number` tells acts of one kind apart."""

    attempts: int
    act: Act
    number: int = 0


# Parts of the attempts. Workers are warm by then, and there is a normal answer to compare with.
_ARMED_AT: Final = 0.04
# The restart comes in the middle: there is storm before it and after it.
_RESTART_FROM, _RESTART_TO = 0.40, 0.60
# So much of the storm before it dispatch is held, so that its stream has records which the restart loses.
_HELD_FOR: Final = 0.04
# An outage that nothing but dispatch itself may end well: no restart is near.
_OUTAGE: Final = (0.74, 0.78)
_COPIES_AT: Final = (0.15, 0.30, 0.70, 0.80, 0.90, 0.97)
_DELAYED: Final = ((0.10, 0.20), (0.25, 0.35), (0.65, 0.75), (0.85, 0.95))


def script(schedule: Schedule, requests: int) -> tuple[Occasion, ...]:
    """What happens in a storm of so many requests, in order. The same seed and size, the same script."""
    span = int((_RESTART_TO - _RESTART_FROM) * requests)
    restart = int(_RESTART_FROM * requests) + schedule.share("restart", 0, span)
    occasions = [
        Occasion(int(_ARMED_AT * requests), Act.ARM),
        Occasion(restart - max(1, int(_HELD_FOR * requests)), Act.HOLD_DISPATCH),
        Occasion(restart, Act.RESTART),
        Occasion(int(_OUTAGE[0] * requests), Act.OUTAGE),
        Occasion(int(_OUTAGE[1] * requests), Act.RECOVER),
        *(Occasion(int(part * requests), Act.COPY_STREAM, n) for n, part in enumerate(_COPIES_AT)),
    ]
    for number, (start, end) in enumerate(_DELAYED):
        occasions.append(Occasion(int(start * requests), Act.DELAY_QUEUES, number))
        occasions.append(Occasion(int(end * requests), Act.FLOW_QUEUES, number))
    return tuple(sorted(occasions, key=lambda one: (one.attempts, one.act.value)))
