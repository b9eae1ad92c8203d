"""Figures whose memory does not grow with the run: right within the error that is stated."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.counting import RELATIVE_ERROR, Distinct, Latencies
from loadtest.measures import measure
from tests.unit.storm.stories import Story

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadtest.history import Attempt

# What four times the attempts may add to the peak of the figures: a few Python objects that are in flight.
# One number of eight bytes kept of each would be 140 kB.
_MOST_MORE_BYTES = 20_000


def _counted(values: list[float]) -> Latencies:
    latencies = Latencies()
    for one in values:
        latencies.add(one)
    return latencies


@pytest.mark.parametrize(
    ("values", "p50", "p95", "p99"),
    [
        ([5.0], 5.0, 5.0, 5.0),
        ([float(n) for n in range(1, 101)], 50.0, 95.0, 99.0),
        ([3.0, 1.0, 2.0], 2.0, 3.0, 3.0),
        ([0.0, 0.0], 0.0, 0.0, 0.0),
        ([7_200_000.0], 7_200_000.0, 7_200_000.0, 7_200_000.0),
    ],
)
def test_percentiles_are_the_nearest_ranks_within_a_hundredth(
    values: list[float], p50: float, p95: float, p99: float
) -> None:
    got = _counted(values).percentiles()
    assert (got.p50, got.p95, got.p99) == pytest.approx((p50, p95, p99), rel=RELATIVE_ERROR)
    assert got.most == max(values)


@given(st.lists(st.floats(0.2, 3_000_000.0), min_size=1, max_size=60))
def test_a_percentile_is_never_below_what_was_measured_nor_above_it_by_more_than_is_stated(
    values: list[float],
) -> None:
    got, ordered = _counted(values).percentiles(), sorted(values)
    for percent, value in ((50, got.p50), (95, got.p95), (99, got.p99)):
        true = ordered[-(-len(ordered) * percent // 100) - 1]
        assert value is not None
        assert true * (1 - 1e-9) <= value <= true * (1 + RELATIVE_ERROR) * (1 + 1e-9)


def test_no_latency_has_no_percentile() -> None:
    assert Latencies().percentiles().p99 is None


@given(st.lists(st.integers(0, 30)))
def test_names_are_counted_once_each(numbers: list[int]) -> None:
    distinct = Distinct()
    for one in numbers:
        distinct.add(str(one))
    assert len(distinct) == len(set(numbers))


def test_names_are_counted_once_each_after_they_were_sorted_in() -> None:
    distinct = Distinct()
    for _ in range(2):
        for number in range(10_000):
            distinct.add(f"key {number}")
    assert len(distinct) == 10_000


def _attempts(count: int) -> Iterator[Attempt]:
    """One key, a hundred requests a second, each a little slower than the one before."""
    first = Story().attempt("acme", "k", "one", 1)
    for number in range(count):
        start = number * 10.0
        yield replace(first, intended_start_ms=start, start_ms=start, end_ms=start + 5.0 + number / 100)


def test_four_times_the_attempts_are_measured_in_the_same_memory() -> None:
    def peak(count: int) -> int:
        gc.collect()
        tracemalloc.start()
        try:
            assert measure(lambda: _attempts(count)).requests == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)  # what is made once, on first use, is not the run's
    # Both make a chart of sixty steps: of one second, and of four.
    short, long = peak(5_900), peak(23_600)
    assert long - short < _MOST_MORE_BYTES, (short, long)
