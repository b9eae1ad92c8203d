"""Programs under the scheduler: real code that is run up to its next call to the outside, and no further.

What the code does next is a function of what it was started with and of what its calls were answered. So a
program is not frozen in the middle: it is run again from its start, its earlier calls answered as before, and
each different past is run once and remembered. That makes any number of schedules cheap, and lets the search
go back to any moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.interning import Interner


@dataclass(frozen=True)
class Call:
    """One call to the outside: of `port` (such as ``receipts``), `name` (``put``), with these arguments."""

    port: str
    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Raised:
    """The call is answered with an exception of this type, made of these arguments."""

    kind: type[Exception]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Finished:
    """The program ended with this answer (an HTTP answer, say)."""

    answer: Any


class Ask(Protocol):
    """How a program reaches the outside: whoever controls it decides when, and what the answer is."""

    def __call__(self, port: str, name: str, *arguments: Any) -> Any:  # noqa: ANN401 - any port's answer
        """The call's answer, or its exception raised."""


@dataclass(frozen=True)
class Life:
    """What a program has of its process.

    Attributes:
        name: of the attempt, such as ``A``: the root of its randomness.
        ask: its way to the outside.
        clock_ms: the worker's clock, ms since the epoch.
        started_ms: the gateway's clock when it was started.
    """

    name: str
    ask: Ask
    clock_ms: Callable[[], int]
    started_ms: int

    def randomness(self) -> Callable[[], str]:
        """Fresh random texts, the same in each run of this program: no two of two programs are equal."""
        numbers = iter(range(1_000))
        return lambda: f"{self.name}{_RANDOM}{next(numbers)}"


_RANDOM: Final = "-random-"


def name_in(random: str) -> str:
    """The name of the attempt whose randomness this is."""
    return random.partition(_RANDOM)[0]


class _Paused(BaseException):
    """The program is at a call that is not answered yet: it is left there. No `except Exception` has it."""


class Runs:
    """Every different past of every program, as a tree: a node is a past, and what the code does then.

    A node's content is the number of a `Call` (its next one) or of a `Finished`.
    """

    def __init__(self, interner: Interner) -> None:
        self._interner = interner
        self._pasts: list[tuple[Callable[[Life], Any], Life, int, tuple[tuple[int, int], ...]]] = []
        self._content: list[int] = []
        self._failed: list[frozenset[str]] = []
        self._next: dict[tuple[int, int, int], int] = {}
        self._roots: dict[tuple[int, int], int] = {}
        self.executions = 0

    def start(self, actor: int, name: str, program: Callable[[Life], Any], skew_ms: int, now: int) -> int:
        """The node of a program that is started at `now`, on a worker whose clock is off by `skew_ms`."""
        root = self._roots.get((actor, now))
        if root is None:
            life = Life(name, _unasked, lambda: now + skew_ms, now)
            root = self._roots[actor, now] = self._add(program, life, skew_ms, ())
            self._failed.append(frozenset())
        return root

    def answered(self, node: int, result: int, now: int) -> int:
        """The node after the pending call of `node` was answered with `result` (its number), at `now`."""
        found = self._next.get((node, result, now))
        if found is None:
            program, life, skew_ms, past = self._pasts[node]
            found = self._add(program, life, skew_ms, (*past, (result, now)))
            self._next[node, result, now] = found
            call = self._interner.value(self._content[node])
            failed = isinstance(self._interner.value(result), Raised)
            self._failed.append(self._failed[node] | ({call.port} if failed else frozenset()))
        return found

    def started_ms(self, node: int) -> int:
        """When the program of a node was started, ms since the epoch by the gateway's clock."""
        return self._pasts[node][1].started_ms

    def failed(self, node: int) -> frozenset[str]:
        """The ports of the calls that were answered with an exception."""
        return self._failed[node]

    def content(self, node: int) -> int:
        """The number of what the program does next."""
        return self._content[node]

    def _add(
        self,
        program: Callable[[Life], Any],
        life: Life,
        skew_ms: int,
        past: tuple[tuple[int, int], ...],
    ) -> int:
        self._pasts.append((program, life, skew_ms, past))
        self._content.append(self._interner.number(self._run(program, life, skew_ms, past)))
        return len(self._pasts) - 1

    def _run(
        self,
        program: Callable[[Life], Any],
        life: Life,
        skew_ms: int,
        past: tuple[tuple[int, int], ...],
    ) -> Call | Finished:
        self.executions += 1
        pending: list[Call] = []
        now = life.started_ms
        answers = iter(past)

        def ask(port: str, name: str, *arguments: Any) -> Any:  # noqa: ANN401 - any port's answer
            nonlocal now
            if pending:
                # The code is being left, and cleans up: nothing of that happens.
                raise _Paused
            answer = next(answers, None)
            if answer is None:
                pending.append(Call(port, name, arguments))
                raise _Paused
            number, now = answer
            result = self._interner.value(number)
            if isinstance(result, Raised):
                raise result.kind(*result.arguments)
            return result

        try:
            done = program(Life(life.name, ask, lambda: now + skew_ms, life.started_ms))
        except _Paused:
            return pending[0]
        if pending:
            raise AssertionError(f"{life.name} went on after a call that was not answered: {pending[0].name}")
        return Finished(done)


def _unasked(port: str, name: str, *_: Any) -> Any:  # noqa: ANN401 - see `Ask`
    raise AssertionError(f"{port}.{name} was asked before its program was run")
