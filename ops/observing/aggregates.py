"""CloudWatch's statistics over values that were seen so many times. Pure."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Sample = tuple[int, float, int]
"""Number of the period, value, and how often it was seen."""

_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,10})?|100(?:\.0{1,10})?)")


def _sum(values: Sequence[Sample]) -> float:
    return sum(value * times for _, value, times in values)


def _count(values: Sequence[Sample]) -> float:
    return float(sum(times for _, _, times in values))


STATISTICS: Final[dict[str, Callable[[Sequence[Sample]], float]]] = {
    "Sum": _sum,
    "SampleCount": _count,
    "Average": lambda values: _sum(values) / _count(values),
    "Minimum": lambda values: min(value for _, value, _ in values),
    "Maximum": lambda values: max(value for _, value, _ in values),
}
"""By CloudWatch's names of them."""


def percentile_of(statistic: str) -> float | None:
    """99.0 for p99; None of a statistic that is no percentile. Raises ValueError if there is no such one."""
    if statistic in STATISTICS:
        return None
    found = _PERCENTILE.fullmatch(statistic)
    if found is None:
        raise ValueError(f"statistic {statistic!r}: must be one of {', '.join(STATISTICS)}, or p0 to p100")
    return float(found[1])


def aggregate(samples: Iterable[Sample], statistic: str) -> list[tuple[int, float]]:
    """One value a period that has any, in order of the periods."""
    return [(period, STATISTICS[statistic](values)) for period, values in _by_period(samples)]


def percentiles(samples: Iterable[Sample], percent: float) -> list[tuple[int, float]]:
    """By nearest rank: the smallest value that at least so many per cent of all values do not exceed.

    CloudWatch's own is an estimate of this from ranges of values.
    """
    return [(period, _rank(values, percent)) for period, values in _by_period(samples)]


def _rank(values: Sequence[Sample], percent: float) -> float:
    ordered = sorted(values, key=itemgetter(1))
    wanted = _count(ordered) * percent / 100
    seen = 0
    for _, value, times in ordered:
        seen += times
        if seen >= wanted:
            return value
    return ordered[-1][1]  # rounding: p100 of very many


def _by_period(samples: Iterable[Sample]) -> list[tuple[int, list[Sample]]]:
    ordered = sorted(samples, key=itemgetter(0))
    return [(period, list(values)) for period, values in groupby(ordered, key=itemgetter(0))]
