"""The search: every state that some schedule reaches, each once, those of the fewest moves first."""

from __future__ import annotations

import time
from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proof.state import FAULTS, Move
from proof.world import World

if TYPE_CHECKING:
    from proof.scenario import Scenario
    from proof.state import Kind, State


@dataclass
class Found:
    """What a search saw.

    Attributes:
        states: different ones. ends: states in which every actor had ended.
        faults: how often each kind was tried. executions: runs of the real code, each with another past.
        schedules: how many different ways lead from the beginning to an end (each fault and order counts).
        violation: what is broken first, and by which moves; None if nothing is.
        complete: every state within the bounds was visited.
        world: in which `moves` were found, and can be told: their numbers mean nothing in another.
    """

    scenario: str
    states: int = 0
    ends: int = 0
    faults: Counter[Kind] = field(default_factory=Counter)
    executions: int = 0
    schedules: int = 0
    seconds: float = 0.0
    broken: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    complete: bool = False
    world: World | None = None


def search(scenario: Scenario, *, most_states: int = 20_000_000) -> Found:
    """Visit every state of `scenario`, breadth first, until a promise is broken: the first is a shortest.

    Beyond `most_states` it gives up (not `complete`).
    """
    return _Search(scenario, most_states).run()


class _Search:
    def __init__(self, scenario: Scenario, most_states: int) -> None:
        self._world = World(scenario)
        self._most = most_states
        initial = self._world.initial()
        self._numbers: dict[State, int] = {initial: 0}
        self._came: list[tuple[int, Move] | None] = [None]  # by number: from which state, by which move
        # By number of a state, in the order of its expansion: the numbers of the states after it.
        self._after = array("I")
        self._after_starts = array("Q", [0])
        self._expanded = array("I")
        self._ends = array("I")
        self._found = Found(scenario.name)

    def run(self) -> Found:
        began, found = time.perf_counter(), self._found
        level = list(self._numbers)
        while level and not found.broken and len(self._numbers) < self._most:
            level = self._expand(level)
        found.complete = not level and not found.broken
        found.states = len(self._numbers)
        found.schedules = self._schedules() if found.complete else 0
        found.executions = self._world.runs.executions
        found.seconds = time.perf_counter() - began
        return found

    def _expand(self, level: list[State]) -> list[State]:
        """The states that are one move from those of `level`, and were not seen before."""
        following: list[State] = []
        for state in level:
            number = self._numbers[state]
            if self._world.is_settled(state):
                self._found.ends += 1
                self._ends.append(number)
                broken = self._world.probed(state)
                if broken:
                    self._broke(number, None, broken)
                    return following
            for move in self._world.moves(state):
                after, broken = self._world.after(state, move)
                self._count(move)
                if broken:
                    self._broke(number, move, broken)
                    return following
                self._reach(number, move, after, following)
            self._expanded.append(number)
            self._after_starts.append(len(self._after))
        return following

    def _reach(self, origin: int, move: Move, after: State, following: list[State]) -> None:
        number = self._numbers.setdefault(after, len(self._came))
        if number == len(self._came):
            self._came.append((origin, move))
            following.append(after)
        self._after.append(number)

    def _schedules(self) -> int:
        """In how many ways an end is reached from the beginning.

        No state is reached from itself: each move uses up an actor's past, a fault or a call under way.
        """
        waits = [0] * len(self._came)
        for number in self._after:
            waits[number] += 1
        place = {number: index for index, number in enumerate(self._expanded)}
        ways, ready = [0] * len(self._came), [0]
        ways[0] = 1
        while ready:
            number = ready.pop()
            index = place[number]
            for after in self._after[self._after_starts[index] : self._after_starts[index + 1]]:
                ways[after] += ways[number]
                waits[after] -= 1
                if not waits[after]:
                    ready.append(after)
        return sum(ways[number] for number in self._ends)

    def _count(self, move: Move) -> None:
        if move.kind in FAULTS:
            self._found.faults[move.kind] += 1

    def _broke(self, number: int, last: Move | None, broken: tuple[str, ...]) -> None:
        moves = [] if last is None else [last]
        came = self._came[number]
        while came is not None:
            number, move = came
            moves.append(move)
            came = self._came[number]
        self._found.broken, self._found.moves = broken, tuple(reversed(moves))
        self._found.world = self._world
