"""The figures of a report: latency over time, answers over time, what each scenario did. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from loadtest.answers import key_of
from loadtest.counting import Distinct, Latencies, Percentiles
from loadtest.operations import BY_NAME
from loadtest.schedule import Scenario
from loadtest.told import Told, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from loadtest.history import Attempt

# A chart shows so many points at most; a longer run gets wider ones.
_MOST_BUCKETS: Final = 60


@dataclass(frozen=True, slots=True)
class Bucket:
    """One stretch of the run; `start_s` counts from the first intended start.

    Attributes:
        latency: of the requests that were meant to start in it.
        seen: what clients saw in it, by the end of their attempts.
    """

    start_s: float
    latency: Percentiles
    seen: dict[Told, int]


@dataclass(slots=True)
class Row:
    """One scenario's or one operation's figures; `keys` are pairs of tenant and key."""

    seen: Counter[Told] = field(default_factory=Counter)
    latencies: Latencies = field(default_factory=Latencies)
    keys: Distinct = field(default_factory=Distinct)


@dataclass(frozen=True, slots=True)
class Measures:
    """Everything that the report draws.

    Attributes:
        began_ms: the first intended start after the warm-up, ms since the epoch; 0 without an attempt.
        seconds: from then to the last end. width_s: of one bucket.
        requests: POST attempts, warm-up included. latency: over all after it, but for planned drops.
        buckets: over time, from began_ms on. scenarios: by name, in the order of their first attempt.
        operations: likewise, in the order of `loadtest.operations`; their latencies are without the warm-up.
    """

    began_ms: float
    seconds: float
    width_s: float
    requests: int
    latency: Percentiles
    buckets: tuple[Bucket, ...]
    scenarios: dict[str, Row]
    operations: dict[str, Row]


def measure(read: Callable[[], Iterable[Attempt]]) -> Measures:
    """Take the figures. `read` gives all attempts anew, and is called twice: the chart's steps must be known.

    Memory: the same for any number of attempts, but for eight bytes a key in each row (`Distinct`).

    The warm-up is a row of its own and in no chart: it waits for interpreters to start, not for the platform.
    An attempt that timed out counts with the time that its client waited: without it, a platform would look
    the faster the more requests it loses. The storm's own drops have no latency: they end when it says.
    """
    first, last = _span(read())
    seconds = max(0.0, last - first) / 1000
    chart = _Chart(first, max(1.0, float(-(-seconds // _MOST_BUCKETS))))
    scenarios: defaultdict[str, Row] = defaultdict(Row)
    operations: defaultdict[str, Row] = defaultdict(Row)
    for attempt in read():
        if attempt.operation in BY_NAME:
            _count(attempt, scenarios[attempt.scenario], operations[attempt.operation], chart)
    return Measures(
        began_ms=first,
        seconds=seconds,
        width_s=chart.width_s,
        requests=sum(row.seen.total() for row in scenarios.values()),
        latency=chart.latency.percentiles(),
        buckets=tuple(chart.buckets()),
        scenarios=dict(scenarios),
        operations={name: operations[name] for name in BY_NAME if name in operations},
    )


def _span(attempts: Iterable[Attempt]) -> tuple[float, float]:
    """The first intended start after the warm-up, and the last end; zeros where there is none."""
    first, last = float("inf"), 0.0
    for attempt in attempts:
        if attempt.operation in BY_NAME and attempt.scenario != Scenario.WARM_UP.value:
            first = min(first, attempt.intended_start_ms)
            last = max(last, attempt.end_ms)
    return (first, last) if first <= last else (0.0, 0.0)


def _count(attempt: Attempt, scenario: Row, operation: Row, chart: _Chart) -> None:
    seen, warm = told(attempt), attempt.scenario != Scenario.WARM_UP.value
    for row in (scenario, operation):
        row.seen[seen] += 1
        row.keys.add(f"{attempt.tenant} {key_of(attempt)}")
    if seen is not Told.DROPPED:
        scenario.latencies.add(attempt.latency_ms)
        if warm:
            operation.latencies.add(attempt.latency_ms)
    if warm:
        chart.add(attempt, seen)


class _Chart:
    """Figures over time, in at most `_MOST_BUCKETS` steps and one."""

    def __init__(self, first_ms: float, width_s: float) -> None:
        self.width_s = width_s
        self.latency = Latencies()
        self._first_ms = first_ms
        self._meant: defaultdict[int, Latencies] = defaultdict(Latencies)
        self._seen: defaultdict[int, Counter[Told]] = defaultdict(Counter)

    def add(self, attempt: Attempt, seen: Told) -> None:
        self._seen[self._number(attempt.end_ms)][seen] += 1
        if seen is not Told.DROPPED:
            self.latency.add(attempt.latency_ms)
            self._meant[self._number(attempt.intended_start_ms)].add(attempt.latency_ms)

    def buckets(self) -> Iterable[Bucket]:
        for number in range(max((*self._meant, *self._seen), default=-1) + 1):
            latency = self._meant.get(number, Latencies()).percentiles()
            yield Bucket(number * self.width_s, latency, dict(self._seen.get(number, {})))

    def _number(self, at_ms: float) -> int:
        return int((at_ms - self._first_ms) / 1000 / self.width_s)
