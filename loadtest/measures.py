"""The figures of a report: latency over time, answers over time, what each scenario did. Pure."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loadtest.answers import key_of
from loadtest.operations import BY_NAME
from loadtest.schedule import Scenario
from loadtest.told import Told, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from loadtest.history import Attempt

# A chart shows so many points at most; a longer run gets wider ones.
_MOST_BUCKETS = 60


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Milliseconds from the intended start to the answer, or to giving up; None where there was neither."""

    p50: float | None
    p95: float | None
    p99: float | None
    most: float | None


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
    """One scenario's or one operation's figures."""

    seen: Counter[Told] = field(default_factory=Counter)
    latencies: array[float] = field(default_factory=lambda: array("d"))
    keys: set[tuple[str, str]] = field(default_factory=set)


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


def measure(attempts: Iterable[Attempt]) -> Measures:
    """Take the figures. Memory: some 200 bytes an attempt, and what grows with keys.

    The warm-up is a row of its own and in no chart: it waits for interpreters to start, not for the platform.
    An attempt that timed out counts with the time that its client waited: without it, a platform would look
    the faster the more requests it loses. The storm's own drops have no latency: they end when it says.
    """
    scenarios: defaultdict[str, Row] = defaultdict(Row)
    operations: defaultdict[str, Row] = defaultdict(Row)
    requests = 0
    points: list[_Point] = []
    last = 0.0
    for attempt in attempts:
        if attempt.operation not in BY_NAME:
            continue
        seen = told(attempt)
        pair = (attempt.tenant, key_of(attempt))
        for row in (scenarios[attempt.scenario], operations[attempt.operation]):
            row.seen[seen] += 1
            row.keys.add(pair)
        if seen is not Told.DROPPED:
            scenarios[attempt.scenario].latencies.append(attempt.latency_ms)
            if attempt.scenario != Scenario.WARM_UP.value:
                operations[attempt.operation].latencies.append(attempt.latency_ms)
        requests += 1
        if attempt.scenario != Scenario.WARM_UP.value:
            points.append(_Point(attempt.intended_start_ms, attempt.end_ms, seen))
            last = max(last, attempt.end_ms)
    first = min((point.intended_ms for point in points), default=0.0)
    seconds = max(0.0, last - first) / 1000
    width = max(1.0, float(-(-seconds // _MOST_BUCKETS)))
    return Measures(
        began_ms=first,
        seconds=seconds,
        width_s=width,
        requests=requests,
        latency=_latency(points),
        buckets=tuple(_buckets(points, first, width)),
        scenarios=dict(scenarios),
        operations={name: operations[name] for name in BY_NAME if name in operations},
    )


def percentiles(latencies: Sequence[float]) -> Percentiles:
    """The nearest-rank percentiles of some latencies: each is one that was measured."""
    if not latencies:
        return Percentiles(None, None, None, None)
    ordered = sorted(latencies)

    def rank(percent: int) -> float:
        return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]

    return Percentiles(rank(50), rank(95), rank(99), ordered[-1])


@dataclass(frozen=True, slots=True)
class _Point:
    intended_ms: float
    end_ms: float
    seen: Told


def _latency(points: Iterable[_Point]) -> Percentiles:
    return percentiles([one.end_ms - one.intended_ms for one in points if one.seen is not Told.DROPPED])


def _buckets(points: list[_Point], first: float, width_s: float) -> Iterable[Bucket]:
    meant: defaultdict[int, list[_Point]] = defaultdict(list)
    seen: defaultdict[int, Counter[Told]] = defaultdict(Counter)
    for point in points:
        meant[int((point.intended_ms - first) / 1000 / width_s)].append(point)
        seen[int((point.end_ms - first) / 1000 / width_s)][point.seen] += 1
    for number in range(max((*meant, *seen), default=-1) + 1):
        yield Bucket(number * width_s, _latency(meant.get(number, [])), dict(seen.get(number, {})))
