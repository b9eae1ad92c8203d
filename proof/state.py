"""A state of the search, and the moves that lead from one to the next."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

NOT_STARTED = -1
"""Of an actor that has not begun."""
CRASHED = -2
"""Of an actor whose process is gone."""


class State(NamedTuple):
    """Everything that decides what can happen from here on.

    Attributes:
        now: ms since the epoch, by the gateway's clock.
        ports: the number of each port's state, in the scenario's order.
        actors: each actor's node in `programs.Runs`, NOT_STARTED or CRASHED.
        late: calls that are under way although their caller gave them up: (actor, number of the call, the
            last ms at which it may still take effect).
        faults: how many have happened.
    """

    now: int
    ports: tuple[int, ...]
    actors: tuple[int, ...]
    late: tuple[tuple[int, int, int], ...]
    faults: int


class Kind(Enum):
    """What a move is (`telling` has the sentences)."""

    START = auto()
    STEP = auto()
    CRASH_BEFORE = auto()
    CRASH_AFTER = auto()
    UNREACHED = auto()
    UNANSWERED = auto()
    RESENT = auto()
    OVERTAKEN = auto()
    LATE = auto()
    LANDS = auto()
    CLOCK = auto()
    LAPSE = auto()


FAULTS = frozenset(Kind) - {Kind.START, Kind.STEP, Kind.LANDS}
"""The moves that count as faults."""


class Move(NamedTuple):
    """One move. `actor`: whose; -1 where it is nobody's. `detail`: the instant of CLOCK, the number of a late
    call, the number of a lapse."""

    kind: Kind
    actor: int = -1
    detail: int = 0
