"""What a search is about: who acts, on what, and what must hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from proof.ports import Port
    from proof.programs import Call, Life


@dataclass(frozen=True)
class Actor:
    """One attempt.

    Attributes:
        name: such as ``A``; no two have one.
        kind: actors of one kind are alike, so that of those that have not begun the first begins.
        program: the code that it runs.
        skew_ms: how far its worker's clock is from the gateway's.
        lives_ms: how long after its start it is gone for good, whatever it does: Lambda ends an invocation.
            (By default a minute: of those who come when all is over, and never wait.)
        takes: its first call takes the message that starts it (of a stream, of a queue): without one it does
            not begin, and is not waited for.
    """

    name: str
    kind: str
    program: Callable[[Life], Any]
    skew_ms: int = 0
    lives_ms: int = 60_000
    takes: bool = False


@dataclass(frozen=True)
class Seen:
    """What the rules look at.

    Attributes:
        now: ms since the epoch.
        ports: each port's state, by name.
        answers: what finished actors answered, by name.
        faults: how many have happened.
        failed: by name of an actor that has not crashed, the services whose calls failed for it.
    """

    now: int
    ports: Mapping[str, Any]
    answers: Mapping[str, Any]
    faults: int = 0
    failed: Mapping[str, frozenset[str]] = field(default_factory=dict)


class Rules(Protocol):
    """The promises of a scenario. `judged_before`: the names of the calls that `before` looks at."""

    @property
    def judged_before(self) -> frozenset[str]:
        """See above."""

    def before(self, seen: Seen, actor: str, call: Call) -> Iterable[str]:
        """What is broken by `actor` making this call now."""

    def finished(self, seen: Seen, actor: str, started_ms: int, answer: Any) -> Iterable[str]:  # noqa: ANN401
        """What is broken by this answer of `actor`, which began at `started_ms`."""

    def settled(self, seen: Seen) -> Iterable[str]:
        """What is broken once every actor has ended."""


@dataclass(frozen=True)
class Scenario:
    """A search.

    Attributes:
        begins_ms: the time at its beginning.
        faults: the most that may happen on one schedule.
        probes: run one after the other, without a fault, wherever every actor has ended: what a client finds
            who comes later. Each is judged as the actors are.
        settled_at: when the probes come, ms since the epoch: after every lease.
    """

    name: str
    actors: tuple[Actor, ...]
    ports: tuple[Port, ...]
    rules: Rules
    begins_ms: int
    faults: int
    probes: Sequence[Actor] = ()
    settled_at: Callable[[Seen], int] = field(default=lambda seen: seen.now)
