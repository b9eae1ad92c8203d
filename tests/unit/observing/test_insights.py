"""Metrics Insights: what a query selects, groups and orders, and what is refused as CloudWatch refuses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.observing.insights import parse, select
from ops.observing.lines import QueryError, Window
from ops.observing.series import SeriesName, Unit
from tests.unit.observing.builders import END, MINUTE_MS, START, accepted, put

if TYPE_CHECKING:
    from ops.observing.lines import Line
    from ops.observing.store import MetricStore

FROM_TENANTS = 'FROM SCHEMA("Onceward", Service, TenantId)'


@pytest.fixture
def window(store: MetricStore) -> Window:
    put(store, accepted(tenant="acme"), 1, 2)
    put(store, accepted(tenant="bolt"), 10, None, 5)
    put(store, accepted("execute", "acme"), 100)
    put(store, accepted(), 111, 2, 5)
    return Window(store, 60, START, END)


def told(lines: tuple[Line, ...]) -> dict[str, list[float]]:
    return {line.label: [value for _, value in line.points] for line in lines}


def test_groups_are_of_the_series_with_exactly_the_schemas_dimensions(window: Window) -> None:
    lines = select(f"SELECT SUM(Accepted) {FROM_TENANTS} GROUP BY TenantId", window)
    assert told(lines) == {"acme": [101, 2], "bolt": [10, 5]}
    assert [line.contributor for line in lines] == [(("TenantId", "acme"),), (("TenantId", "bolt"),)]
    assert {line.unit for line in lines} == {Unit.COUNT}


def test_without_groups_all_is_one_line(window: Window) -> None:
    [line] = select(f"SELECT SUM(Accepted) {FROM_TENANTS}", window)
    assert [value for _, value in line.points] == [111, 2, 5]


def test_a_namespace_alone_takes_every_set_of_dimensions(window: Window) -> None:
    [line] = select("SELECT COUNT(Accepted) FROM Onceward", window)
    assert [value for _, value in line.points] == [4, 2, 2]


def test_a_schema_of_nothing_takes_series_without_dimensions_only(store: MetricStore, window: Window) -> None:
    assert select('SELECT SUM(Accepted) FROM SCHEMA("Onceward")', window) == ()
    put(store, SeriesName.of("Onceward", "Accepted", {}), 7)
    [line] = select('SELECT SUM(Accepted) FROM SCHEMA("Onceward")', window)
    assert line.points == ((START, 7.0),)


@pytest.mark.parametrize(
    ("function", "expected"), [("AVG", 37.0), ("MIN", 1.0), ("MAX", 100.0), ("SUM", 111.0), ("COUNT", 3.0)]
)
def test_each_function_is_over_the_observations_of_all_series_of_a_group(
    window: Window, function: str, expected: float
) -> None:
    [line] = select(f"SELECT {function}(Accepted) {FROM_TENANTS}", window)
    assert line.points[0] == (START, expected)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("Service = 'ingest'", {"acme": [1, 2], "bolt": [10, 5]}),
        ("Service != 'ingest'", {"acme": [100]}),
        ("Service = 'ingest' AND TenantId != 'acme'", {"bolt": [10, 5]}),
        ("\"Service\" = 'ingest' and \"TenantId\" = 'acme'", {"acme": [1, 2]}),
        ("Region = 'x'", {}),
        ("Region != 'x'", {}),
    ],
)
def test_conditions_choose_series_by_their_dimensions(
    window: Window, where: str, expected: dict[str, list[float]]
) -> None:
    assert (
        told(select(f"SELECT SUM(Accepted) {FROM_TENANTS} WHERE {where} GROUP BY TenantId", window))
        == expected
    )


def test_groups_are_ordered_by_the_whole_window_and_limited(window: Window) -> None:
    query = f"SELECT SUM(Accepted) {FROM_TENANTS} WHERE Service = 'ingest' GROUP BY TenantId ORDER BY SUM()"
    assert list(told(select(f"{query} DESC LIMIT 10", window))) == ["bolt", "acme"]
    assert list(told(select(query, window))) == ["acme", "bolt"]
    assert list(told(select(f"{query} DESC LIMIT 1", window))) == ["bolt"]


def test_several_dimensions_make_a_group_each(window: Window) -> None:
    lines = select(f"SELECT SUM(Accepted) {FROM_TENANTS} GROUP BY TenantId, Service", window)
    assert list(told(lines)) == ["acme execute", "acme ingest", "bolt ingest"]


def test_a_group_without_data_in_the_window_is_no_line(store: MetricStore) -> None:
    put(store, accepted(tenant="acme"), 1)
    later = Window(store, 60, START + MINUTE_MS, END)
    assert select(f"SELECT SUM(Accepted) {FROM_TENANTS} GROUP BY TenantId", later) == ()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT SUM(Accepted)",
        "SELECT P99(Accepted) FROM Onceward",
        "SELECT SUM(Accepted) FROM AWS/Lambda",
        "SELECT SUM(5XXError) FROM Onceward",
        "SELECT SUM('Accepted') FROM Onceward",
        f"SELECT SUM(Accepted) {FROM_TENANTS} WHERE Service = 'a' OR Service = 'b'",
        f"SELECT SUM(Accepted) {FROM_TENANTS} WHERE (Service = 'a')",
        f'SELECT SUM(Accepted) {FROM_TENANTS} WHERE Service = "a"',
        f"SELECT SUM(Accepted) {FROM_TENANTS} WHERE Service LIKE 'a'",
        f"SELECT SUM(Accepted) {FROM_TENANTS} ORDER BY TenantId",
        f"SELECT SUM(Accepted) {FROM_TENANTS} GROUP TenantId",
        f"SELECT SUM(Accepted) {FROM_TENANTS} LIMIT 10 GROUP BY TenantId",
        f"SELECT SUM(Accepted) {FROM_TENANTS} LIMIT x",
        f"SELECT SUM(Accepted) {FROM_TENANTS} ;",
    ],
)
def test_what_cloudwatch_refuses_is_refused(query: str) -> None:
    with pytest.raises(QueryError):
        parse(query)


@pytest.mark.parametrize("name", ['"AWS/SNS"', '"Onceward"', "Onceward"])
def test_names_are_bare_or_in_double_quotes(name: str) -> None:
    parsed = parse(f'select sum("Accepted") from schema({name}, "TopicName") group by "TopicName" limit 3')
    assert (parsed.namespace, parsed.schema) == (name.strip('"'), frozenset({"TopicName"}))
    assert (parsed.group_by, parsed.limit) == (("TopicName",), 3)
