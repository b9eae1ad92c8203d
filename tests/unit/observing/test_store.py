"""The store: what is put is read back by period, and percentiles are exact."""

from __future__ import annotations

import sqlite3
import stat
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ops.observing.series import Point, SeriesName, Unit
from ops.observing.store import MetricStore, NoMetrics, aligned
from tests.unit.observing.builders import END, MINUTE_MS, START, accepted

if TYPE_CHECKING:
    from pathlib import Path

SERIES = accepted()
EXAMPLES = count()


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("Sum", 10.0),
        ("Average", 2.5),
        ("Minimum", 1.0),
        ("Maximum", 4.0),
        ("SampleCount", 4.0),
        ("p0", 1.0),
        ("p50", 2.0),
        ("p75", 3.0),
        ("p99.9", 4.0),
        ("p100", 4.0),
    ],
)
def test_each_statistic_is_of_the_values_of_its_period(
    store: MetricStore, statistic: str, expected: float
) -> None:
    for value in (3.0, 1.0, 4.0, 2.0):
        store.put(SERIES, Unit.COUNT, START + int(value) * 1000, value)
    store.put(SERIES, Unit.COUNT, START + MINUTE_MS, 100.0)
    assert store.read(SERIES, statistic, 60, START, START + MINUTE_MS) == [(START, expected)]


@pytest.mark.parametrize("statistic", ["sum", "p101", "p", "p5x", "tm99", ""])
def test_another_statistic_is_refused_by_name(store: MetricStore, statistic: str) -> None:
    with pytest.raises(ValueError, match="must be one of Sum"):
        store.read(SERIES, statistic, 60, START, END)


def test_a_period_of_no_length_is_refused(store: MetricStore) -> None:
    with pytest.raises(ValueError, match="period 0"):
        store.read(SERIES, "Sum", 0, START, END)


def test_a_value_that_was_seen_often_counts_as_often(store: MetricStore) -> None:
    store.put(SERIES, Unit.COUNT, START, 2.0, times=3)
    store.put(SERIES, Unit.COUNT, START + 999, 2.0)
    assert store.read(SERIES, "Sum", 60, START, END) == [(START, 8.0)]
    assert store.read(SERIES, "SampleCount", 60, START, END) == [(START, 4.0)]


def test_periods_begin_where_they_are_asked_to_and_end_before_the_end(store: MetricStore) -> None:
    for second in range(120):
        store.put(SERIES, Unit.COUNT, START + second * 1000, 1)
    begin = START + 30_000
    assert store.read(SERIES, "Sum", 60, begin, begin + 80_000) == [(begin, 60.0), (begin + MINUTE_MS, 20.0)]


def test_periods_without_values_are_not_there(store: MetricStore) -> None:
    store.put(SERIES, Unit.COUNT, START, 1)
    store.put(SERIES, Unit.COUNT, START + 2 * MINUTE_MS, 1)
    assert [at for at, _ in store.read(SERIES, "Sum", 60, START, END)] == [START, START + 2 * MINUTE_MS]


def test_a_series_is_its_namespace_its_name_and_all_of_its_dimensions(store: MetricStore) -> None:
    others = [
        SeriesName.of("Other", "Accepted", {"Service": "ingest"}),
        accepted(name="Replayed"),
        accepted("execute"),
        accepted(tenant="acme"),
    ]
    for other in others:
        store.put(other, Unit.COUNT, START, 1)
    assert store.read(SERIES, "Sum", 60, START, END) == []
    assert store.names() == sorted(others)
    assert store.names("Onceward", "Replayed") == [accepted(name="Replayed")]


def test_dimensions_are_the_same_in_whatever_order_they_come() -> None:
    assert SeriesName.of("n", "m", {"a": "1", "b": "2"}) == SeriesName.of("n", "m", {"b": "2", "a": "1"})


def test_several_series_are_read_as_one_population(store: MetricStore) -> None:
    several = [accepted(tenant=f"t{number}") for number in range(1000)]
    store.put_all(Point(one, Unit.COUNT, START, number) for number, one in enumerate(several))
    assert store.read_together(several, "Average", 60, START, END) == [(START, 499.5)]
    assert store.read_together(several, "p50", 60, START, END) == [(START, 499.0)]
    assert store.read_together([], "Sum", 60, START, END) == []


def test_unit_and_origin_are_those_of_the_first_point(store: MetricStore) -> None:
    store.put_all([Point(SERIES, Unit.MILLISECONDS, START, 1, origin="seen")])
    store.put(SERIES, Unit.COUNT, START, 1)
    assert (store.unit(SERIES), store.origin(SERIES)) == (Unit.MILLISECONDS, "seen")
    assert (store.unit(accepted("read")), store.origin(accepted("read"))) == (None, None)


def test_the_span_is_from_the_first_value_to_the_last(store: MetricStore) -> None:
    assert store.span() is None
    store.put(SERIES, Unit.COUNT, START + 1500, 1)
    store.put(accepted("read"), Unit.COUNT, END, 1)
    assert store.span() == (START + 1000, END)


def test_points_that_cannot_all_be_put_are_not_put_at_all(store: MetricStore) -> None:
    good = Point(SERIES, Unit.COUNT, START, 1)
    bad = Point(accepted("read"), Unit.COUNT, START, 1, times=2**70)  # SQLite's integers have 64 bits
    with pytest.raises(OverflowError):
        store.put_all([good, bad])
    assert store.names() == []
    store.put_all([good])
    assert store.read(SERIES, "Sum", 60, START, END) == [(START, 1.0)]


def test_what_is_forgotten_is_what_was_before_that_moment(store: MetricStore) -> None:
    for series in (SERIES, accepted("read")):
        for minute in range(3):
            store.put(series, Unit.COUNT, START + minute * MINUTE_MS, 1)
    store.forget(START + MINUTE_MS)
    for series in (SERIES, accepted("read")):
        kept = [(START + MINUTE_MS, 1.0), (START + 2 * MINUTE_MS, 1.0)]
        assert store.read(series, "Sum", 60, START, END) == kept


def test_one_process_writes_while_another_reads_and_one_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "metrics.sqlite"
    with MetricStore(path) as writer:
        writer.put(SERIES, Unit.COUNT, START, 1)
        with MetricStore(path, read_only=True) as reader:
            writer.put(SERIES, Unit.COUNT, START, 1)
            assert reader.read(SERIES, "Sum", 60, START, END) == [(START, 2.0)]
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                reader.put(SERIES, Unit.COUNT, START, 1)
    assert [file.name for file in tmp_path.iterdir()] == ["metrics.sqlite"]
    with MetricStore(path, read_only=True) as again:
        assert again.read(SERIES, "Sum", 60, START, END) == [(START, 2.0)]


def test_only_its_user_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "metrics.sqlite"
    MetricStore(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_to_read_is_said_and_no_file_is_made(tmp_path: Path) -> None:
    with pytest.raises(NoMetrics, match="no metrics were collected"):
        MetricStore(tmp_path / "none.sqlite", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_moment_is_aligned_to_the_period_that_it_is_in() -> None:
    assert aligned(START + 59_999, 60) == START
    assert aligned(START + MINUTE_MS, 60) == START + MINUTE_MS


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(
    values=st.lists(st.integers(0, 50), min_size=1, max_size=60),
    percent=st.integers(0, 100),
)
def test_a_percentile_is_the_value_that_so_many_do_not_exceed(
    store: MetricStore, values: list[int], percent: int
) -> None:
    series = accepted(f"example-{next(EXAMPLES)}")  # the store is the same for all of them
    store.put_all(Point(series, Unit.COUNT, START, value) for value in values)
    [(_, found)] = store.read(series, f"p{percent}", 60, START, END)
    assert sum(value <= found for value in values) * 100 >= percent * len(values)
    assert sum(value < found for value in values) * 100 <= percent * len(values)
    assert found in values
