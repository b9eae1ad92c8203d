"""Counts of a run in memory that does not grow with its attempts: latencies, and how many names there are.

Pure.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass
from hashlib import blake2b
from heapq import merge
from math import ceil, log
from typing import Final

# A latency is counted in a step of this width: a percentile is at most one step above one that was measured.
RELATIVE_ERROR: Final = 0.01
# The first step ends here and the last one begins there: below is no time at all, above is no request (an
# hour; a client waits for half a minute).
_LEAST_MS, _MOST_MS = 0.1, 3_600_000.0
_LOG_STEP: Final = log(1 + RELATIVE_ERROR)
# 1,751 steps of four bytes: 7 KB for each row of a table and each point of a chart.
_STEPS: Final = ceil(log(_MOST_MS / _LEAST_MS) / _LOG_STEP) + 2
# Names that wait to be sorted in: each time all that are known are copied once.
_WAITING: Final = 4096


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Milliseconds from the intended start to the answer, or to giving up; None where there was neither.

    Each is a latency that was measured (the nearest rank), or above it by `RELATIVE_ERROR` at most; never
    below it. `most` is exact.
    """

    p50: float | None
    p95: float | None
    p99: float | None
    most: float | None


class Latencies:
    """How often each latency was measured, in steps that grow by `RELATIVE_ERROR`."""

    def __init__(self) -> None:
        self._counts = array("I", bytes(4 * _STEPS))
        self._total = 0
        self._most: float | None = None

    def __len__(self) -> int:
        return self._total

    def add(self, latency_ms: float) -> None:
        """Count one."""
        step = 0 if latency_ms <= _LEAST_MS else ceil(log(latency_ms / _LEAST_MS) / _LOG_STEP)
        self._counts[min(step, _STEPS - 1)] += 1
        self._total += 1
        self._most = latency_ms if self._most is None else max(self._most, latency_ms)

    def percentiles(self) -> Percentiles:
        """What was counted so far."""
        return Percentiles(self._rank(50), self._rank(95), self._rank(99), self._most)

    def _rank(self, percent: int) -> float | None:
        if self._most is None:
            return None
        left = -(-self._total * percent // 100)
        for step, count in enumerate(self._counts):
            left -= count
            if left <= 0 and step < _STEPS - 1:
                return min(self._most, _LEAST_MS * (1 + RELATIVE_ERROR) ** step)
        return self._most


class Distinct:
    """How many different names there were: eight bytes each, and those that wait.

    Two names of one hash (64 bits) are counted as one: of a million, with a probability under one in ten
    million.
    """

    def __init__(self) -> None:
        self._sorted = array("Q")
        self._waiting: set[int] = set()

    def __len__(self) -> int:
        return len(self._sorted) + len(self._waiting)

    def add(self, name: str) -> None:
        """There is this name."""
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest)
        at = bisect_left(self._sorted, number)
        if at < len(self._sorted) and self._sorted[at] == number:
            return
        self._waiting.add(number)
        if len(self._waiting) == _WAITING:
            self._sorted = array("Q", merge(self._sorted, sorted(self._waiting)))
            self._waiting.clear()
