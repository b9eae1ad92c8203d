"""SEARCH: which series are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.observing.lines import QueryError, Window
from ops.observing.search import parse, search
from ops.observing.series import SeriesName
from tests.unit.observing.builders import END, MINUTE_MS, START, accepted, put

if TYPE_CHECKING:
    from ops.observing.store import MetricStore


@pytest.fixture
def window(store: MetricStore) -> Window:
    put(store, accepted("onceward-dev_ingest", "acme"), 1)
    put(store, accepted("onceward-dev_ingest", "acme", "Failed"), 0)
    put(store, accepted("onceward-dev_execute", "bolt"), 2)
    put(store, accepted("onceward-dev_ingest"), 3)
    put(store, SeriesName.of("AWS/SNS", "Published", {"TopicName": "onceward-dev-acme"}), 4)
    return Window(store, 60, START, END)


def found(query: str, window: Window) -> list[float]:
    return sorted(line.points[0][1] for line in search(query, "Sum", window))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('{Onceward,Service,TenantId} MetricName="Accepted"', [1, 2]),
        ('{Onceward, Service} MetricName="Accepted"', [3]),
        ('{Onceward,TenantId,Service} MetricName="Accepted" Service="onceward-dev_ingest"', [1]),
        ('{Onceward,Service,TenantId} Service=("onceward-dev_ingest" OR "onceward-dev_execute")', [0, 1, 2]),
        ('{Onceward,Service,TenantId} MetricName=("Accepted" OR "Failed") TenantId="acme"', [0, 1]),
        ('{Onceward,Service,TenantId} MetricName="Accepted" OR MetricName="Failed"', [0, 1, 2]),
        ('{Onceward,Service,TenantId} MetricName="Accepted" AND NOT TenantId="acme"', [2]),
        ('{Onceward,Service,TenantId} (MetricName="Failed" OR TenantId="bolt")', [0, 2]),
        ('{Onceward,Service,TenantId} TenantId="ac"', []),
        ("{Onceward,Service,TenantId} Service=EXECUTE", [2]),
        ("{Onceward,Service,TenantId} bolt", [2]),
        ('{"AWS/SNS",TopicName}', [4]),
        ("{AWS/SNS,TopicName} acme", [4]),
        ('MetricName="Accepted"', [1, 2, 3]),
    ],
)
def test_series_are_found_by_their_schema_and_by_terms(
    window: Window, query: str, expected: list[float]
) -> None:
    assert found(query, window) == expected


def test_a_series_without_data_in_the_window_is_not_found(store: MetricStore, window: Window) -> None:
    later = Window(store, 60, START + MINUTE_MS, END)
    assert search('{Onceward,Service,TenantId} MetricName="Accepted"', "Sum", later) == ()


@pytest.mark.parametrize(
    "query", ["", "{Onceward", "{} x", "{Onceward} MetricName=", "{Onceward} (a", "{a} b )"]
)
def test_what_is_no_search_is_refused(query: str) -> None:
    with pytest.raises(QueryError):
        parse(query)
