"""Looks for an order of one key's attempts that explains all their answers (linearizability). Pure.

The search is that of Wing and Gong with the memory of Lowe (of what is ordered, and how the key stands then).
Two things make it small for this object. An answer that changes nothing and is true now may come now: putting
it off helps nobody, since it is only ordered when all that ended before it began is. And duplicates who were
told the same are alike: of each kind those that began first are ordered first, so that how many suffices.
What is left to try is who opened the window.

A 409 "still running" must besides be explained by somebody's claim (`loadtest.claims`).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from loadtest import sequential
from loadtest.claims import Claims
from loadtest.sequential import FREE, Phase, Says, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadtest.sequential import Call, Rules

# Positions that are tried for one key before the search gives up and says so. A right key needs a few; one
# with hundreds of first answers, each an order of its own, needs as many as those.
MOST_POSITIONS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a search.

    Attributes:
        ordered: there is an order; None when the search was given up.
        positions: that were tried.
        state, stuck: when there is none: how the key stood where the search came furthest, and the attempt
            whose answer was due there, and is not true then.
    """

    ordered: bool | None
    positions: int
    state: State = FREE
    stuck: Call | None = None


def search(
    rules: Rules,
    calls: Sequence[Call],
    most_positions: int = MOST_POSITIONS,
    claims: Claims | None = None,
) -> Found:
    """Look for an order of all attempts of one key, in which each answer is true at an instant of its own.

    An attempt that nobody saw the end of may be in the order or not, at any instant after its start.

    Args:
        claims: of the key, where `calls` are only some of its attempts; None: of `calls`.
    """
    board = _Board(rules, calls, claims or Claims(rules, calls))
    visited: set[_Position] = set()
    open_positions = [board.settle(_Position(FREE, (0,) * len(board.alike), frozenset(), ()))]
    furthest = open_positions[0]
    while open_positions:
        position = open_positions.pop()
        if board.is_done(position):
            return Found(ordered=True, positions=len(visited))
        if position in visited:
            continue
        if len(visited) >= most_positions:
            return Found(ordered=None, positions=len(visited))
        visited.add(position)
        furthest = max(furthest, position, key=board.how_far)
        # The last one is tried first: an attempt that was answered is a likelier first than one unseen.
        open_positions += map(board.settle, board.next_of(position))
    return Found(ordered=False, positions=len(visited), state=furthest.state, stuck=board.due(furthest))


@dataclass(frozen=True, slots=True)
class _Position:
    """Where a search stands.

    Attributes:
        state: of the key. ordered: of each class of duplicates, how many.
        firsts: indices of the ordered first answers. unseen: indices of the unseen attempts that took it.
    """

    state: State
    ordered: tuple[int, ...]
    firsts: frozenset[int]
    unseen: tuple[int, ...]


class _Alike:
    """Duplicates who were told the same, by their start. `explained`: what they were told may be true."""

    def __init__(self, calls: list[Call], *, explained: bool) -> None:
        self.explained = explained
        self.calls = sorted(calls, key=lambda one: one.start_ms)
        self.starts = [one.start_ms for one in self.calls]
        # Of those from each on, the earliest end.
        ends = [one.end_ms for one in reversed(self.calls)]
        self.earliest_end = [*reversed(list(accumulate(ends, min))), math.inf]


class _Board:
    """All attempts of a key, and the moves that the specification allows."""

    def __init__(self, rules: Rules, calls: Sequence[Call], claims: Claims) -> None:
        self._rules = rules
        kinds: defaultdict[tuple[Says, str, str, bool], list[Call]] = defaultdict(list)
        for call in calls:
            if call.says not in {Says.FIRST, Says.UNSEEN}:
                explained = call.says is not Says.RUNNING or claims.explain(call)
                kinds[call.says, call.body, call.answer, explained].append(call)
        self.alike = [_Alike(found, explained=kind[-1]) for kind, found in kinds.items()]
        self.firsts = sorted((one for one in calls if one.says is Says.FIRST), key=lambda one: one.end_ms)
        lost = {one.attempt_id for one in claims.lost}
        self.unseen = sorted(
            (one for one in calls if one.says is Says.UNSEEN or one.attempt_id in lost),
            key=lambda one: one.start_ms,
        )

    def is_done(self, position: _Position) -> bool:
        """All that was answered is in the order."""
        whole = all(n == len(one.calls) for n, one in zip(position.ordered, self.alike, strict=True))
        return (
            whole and len(position.firsts) == len(self.firsts) and position.state.phase is not Phase.RUNNING
        )

    def how_far(self, position: _Position) -> int:
        """How many answers are in the order."""
        return sum(position.ordered) + len(position.firsts)

    def settle(self, position: _Position) -> _Position:
        """Order every duplicate whose answer is true now and may come now."""
        before = None
        while before != position:
            before, by_ms = position, self._frontier_ms(position)
            counts = tuple(
                max(n, bisect_right(one.starts, by_ms))
                if n < len(one.calls) and self._allows(position.state, one, n)
                else n
                for n, one in zip(position.ordered, self.alike, strict=True)
            )
            position = _Position(position.state, counts, position.firsts, position.unseen)
        return position

    def _allows(self, state: State, alike: _Alike, number: int) -> bool:
        return alike.explained and sequential.allows(self._rules, state, alike.calls[number])

    def next_of(self, position: _Position) -> Iterator[_Position]:
        """Every way in which the key may change now."""
        state, by_ms = position.state, self._frontier_ms(position)
        if state.phase is Phase.RUNNING:
            owner = next(n for n, one in enumerate(self.firsts) if one.attempt_id == state.owner)
            done = sequential.completed(state, self.firsts[owner])
            if done is not None:
                yield _Position(done, position.ordered, position.firsts | {owner}, position.unseen)
            return
        yield from self._unseen_openings(position, by_ms)
        for n, alike in zip(position.ordered, self.alike, strict=True):
            if n < len(alike.calls) and alike.starts[n] <= by_ms:
                known = sequential.revealed(self._rules, state, alike.calls[n])
                if known is not None:
                    yield _Position(known, position.ordered, position.firsts, position.unseen)
        for number, call in enumerate(self.firsts):
            if number not in position.firsts and call.start_ms <= by_ms:
                taken = sequential.opened(self._rules, state, call)
                if taken is not None:
                    ordered = set() if taken.phase is Phase.RUNNING else {number}
                    yield _Position(taken, position.ordered, position.firsts | ordered, position.unseen)

    def _unseen_openings(self, position: _Position, by_ms: float) -> Iterator[_Position]:
        """Of those alike the earliest will do: it can take effect whenever a later one can."""
        tried = set()
        for number, call in enumerate(self.unseen):
            if call.start_ms > by_ms:
                return
            alike = (call.body, call.says is Says.UNSEEN)
            if number in position.unseen or alike in tried:
                continue
            tried.add(alike)
            taken = sequential.opened(self._rules, position.state, call)
            if taken is not None:
                unseen = (*position.unseen, number)
                yield _Position(taken, position.ordered, position.firsts, unseen)

    def _frontier_ms(self, position: _Position) -> float:
        """Who began after this comes after somebody who is not ordered yet."""
        ends = [one.earliest_end[n] for n, one in zip(position.ordered, self.alike, strict=True)]
        ends += [one.end_ms for n, one in enumerate(self.firsts) if n not in position.firsts][:1]
        return min(ends, default=math.inf) + self._rules.tolerance_ms

    def due(self, position: _Position) -> Call | None:
        """The attempt that had to be ordered next, by its end; None when there is none."""
        left = [call for n, one in zip(position.ordered, self.alike, strict=True) for call in one.calls[n:]]
        left += [one for n, one in enumerate(self.firsts) if n not in position.firsts]
        return min(left, key=lambda one: one.end_ms, default=None)
