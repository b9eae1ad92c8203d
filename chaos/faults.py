"""Which call of which function gets which fault: pure, from the seed alone."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    _Parts: TypeAlias = Sequence[tuple["Kind", int]]


class Kind(Enum):
    """A fault, in the words of the run's table. Those of `BY_CALL` happen to single calls at the proxy."""

    LATENCY = "answered late"
    RESET = "connection reset before effect"
    ERROR = "500 before effect"
    THROTTLE = "throttled"
    LOST_ANSWER = "took effect, answer lost"
    LATE_EFFECT = "no answer, takes effect after the retry"
    COPY = "message sent twice, its copy late"
    KILL_BEFORE = "worker killed before the call's effect"
    KILL_AFTER = "worker killed after the call's effect"
    HELD = "dispatch held up by the store (throttled)"
    STREAM_COPY = "stream record delivered again, late, in another batch"
    REORDERED = "message seen before one that was sent earlier"
    RESTART = "local AWS stopped (SIGTERM) and started with its state"
    SKEWED_CLOCK = "worker with a clock of its own"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one call. `seconds`: how late, for the kinds that have a delay; else 0."""

    kind: Kind
    seconds: float = 0.0


QUEUEING: Final = frozenset({"sqs", "sns", "events"})
"""Services (by their name in a signature) whose calls send a message, which may be sent twice."""

# Parts of 1,000 calls. botocore tries twice, so that a call fails for good once in some 75: often enough
# that each function's own answer to that is seen, seldom enough that most of the storm is work and not 503s.
_PARTS: Final[tuple[tuple[Kind, int], ...]] = (
    (Kind.LATENCY, 30),
    (Kind.RESET, 20),
    (Kind.ERROR, 20),
    (Kind.THROTTLE, 25),
    (Kind.LOST_ANSWER, 30),
    (Kind.LATE_EFFECT, 15),
    (Kind.KILL_BEFORE, 3),
    (Kind.KILL_AFTER, 4),
    (Kind.COPY, 100),
)
BY_CALL: Final = frozenset(kind for kind, _ in _PARTS)
"""What the schedule may say of a call."""
_WHOLE: Final = 1_000
# Of the first so many calls of these, each kind meets one, so that a small storm has every kind too. Of these
# alone: a worker that is killed is a cold start, and twenty functions and services would be forty of them.
_FIRST_CALLS: Final = 40
_FIRST: Final = frozenset({("ingest", "dynamodb"), ("dispatch", "sns")})

# (least, most) seconds. Latency: past the functions' own time limit for an answer (2 s) now and then. A late
# effect: after the SDK's retry, which waits for a second at most. A copy: after later messages of its queue.
_SECONDS: Final = {Kind.LATENCY: (0.05, 2.5), Kind.LATE_EFFECT: (1.3, 3.0), Kind.COPY: (0.5, 12.0)}


@dataclass(frozen=True, slots=True)
class Schedule:
    """The faults of a run. The same seed gives the same one, whatever order the calls come in."""

    seed: int

    def of_call(self, function: str, service: str, number: int) -> Fault | None:
        """What happens to a function's call number `number` (from 0) of a service; None: nothing.

        `service` is the name in the call's signature: `dynamodb`, `sqs`, `sns`, `events`, `ssm`.
        """
        parts = [one for one in _PARTS if one[0] is not Kind.COPY or service in QUEUEING]
        first = number < _FIRST_CALLS and (function, service) in _FIRST
        kind = (self._first if first else self._drawn)(function, service, number, parts)
        if kind is None:
            return None
        least, most = _SECONDS.get(kind, (0.0, 0.0))
        return Fault(kind, least + (most - least) * self._chance("seconds", function, service, str(number)))

    def _first(self, function: str, service: str, number: int, parts: _Parts) -> Kind | None:
        """Each kind at a place of its own among the first calls."""
        dice = random.Random(f"{self.seed}/{function}/{service}")  # noqa: S311 - a schedule, not a secret
        places = dice.sample(range(_FIRST_CALLS), len(parts))
        return next((kind for place, (kind, _) in zip(places, parts, strict=True) if place == number), None)

    def _drawn(self, function: str, service: str, number: int, parts: _Parts) -> Kind | None:
        drawn = self._chance("call", function, service, str(number)) * _WHOLE
        for kind, part in parts:
            if drawn < part:
                return kind
            drawn -= part
        return None

    def share(self, what: str, number: int, most: int) -> int:
        """A whole number from 0 to `most` for the occasion number `number` of something else."""
        return min(most, int(self._chance(what, str(number)) * (most + 1)))

    def _chance(self, *words: str) -> float:
        """From 0 up to 1, evenly."""
        digest = sha256("\0".join((str(self.seed), *words)).encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64
