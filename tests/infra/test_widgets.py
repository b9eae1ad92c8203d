"""Widgets and queries: their text, their places, and which metrics a text is about."""

import json
from typing import Any

import pytest

from infra.expressions import Search, Select, in_expression
from infra.metrics import Metric
from infra.widget_kinds import AlarmStatus, Graph, Number, Text
from infra.widget_rows import Found, Line, Maths, Ranked
from infra.widgets import MetricReference, body, placed, references

SERVICE = (("Service", "onceward-dev_ingest"),)
FAILED = Metric("Onceward", "Failed", SERVICE, "Sum")
BY_TENANT = Select("AVG", "Failed", "Onceward", ("Service", "TenantId"), SERVICE, "TenantId")
REFERENCE = MetricReference("Onceward", "Failed", frozenset({"Service", "TenantId"}), SERVICE, "Average")


def widgets_of(*widgets: Text | AlarmStatus | Graph | Number) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(body(widgets, "eu-west-1"))["widgets"]
    return found


def graph(*rows: Line | Maths | Found | Ranked, **fields: Any) -> Graph:
    return Graph("Title", "requests per {period}", rows, **fields)


def test_a_query_quotes_every_word_and_joins_by_and() -> None:
    select = Select(
        "SUM", "Failed", "Onceward", ("Service", "TenantId"), SERVICE, "TenantId", (("TenantId", "bee"),), 10
    )
    assert select.expression == (
        'SELECT SUM("Failed") FROM SCHEMA("Onceward", "Service", "TenantId") '
        "WHERE \"Service\" = 'onceward-dev_ingest' AND \"TenantId\" != 'bee' "
        'GROUP BY "TenantId" ORDER BY SUM() DESC LIMIT 10'
    )


def test_a_search_names_its_metrics_and_the_values_it_wants() -> None:
    search = Search("Onceward", ("Service", "Operation"), ("Failed",), (("Service", ("a", "b")),))
    assert search.expression("Sum", 60) == (
        'SEARCH(\'{Onceward,Service,Operation} Service=("a" OR "b") MetricName="Failed"\', \'Sum\', 60)'
    )


def test_a_query_is_about_its_metric_with_the_dimensions_that_it_fixes() -> None:
    assert in_expression(BY_TENANT.expression) == {REFERENCE}
    plain = (
        'SELECT AVG(Failed) FROM SCHEMA("Onceward", Service, TenantId) '
        "WHERE Service = 'onceward-dev_ingest' AND TenantId != 'bee' GROUP BY TenantId ORDER BY AVG() DESC"
    )
    assert in_expression(plain) == {REFERENCE}


def test_a_search_is_about_each_name_under_each_value() -> None:
    search = Search("Onceward", ("Service", "Operation"), ("Failed", "Rejected"), (("Service", ("a", "b")),))
    found = in_expression(search.expression("Sum", 60))
    assert {(each.name, each.dimensions[0][1]) for each in found} == {
        (name, service) for name in ("Failed", "Rejected") for service in ("a", "b")
    }
    assert {each.dimension_names for each in found} == {frozenset({"Service", "Operation"})}


@pytest.mark.parametrize(
    "text",
    [
        "m1 + m2",
        'SELECT AVG(Failed) FROM "Onceward"',
        "SELECT AVG(Failed) FROM SCHEMA(\"Onceward\", Service) WHERE Service = 'a' OR Service = 'b'",
        "SELECT AVG(Failed) FROM SCHEMA(\"Onceward\", Service) WHERE Servce = 'a'",
        'SELECT AVG(Failed) FROM SCHEMA("Onceward", Service) GROUP BY TenantId',
        'SELECT P99(Failed) FROM SCHEMA("Onceward", Service)',
        "SEARCH('{Onceward,Service} Service=\"a\"', 'Sum', 60)",
        "SEARCH('{Onceward,Service} TenantId=\"a\" MetricName=\"Failed\"', 'Sum', 60)",
        "SEARCH('{Onceward,Service} MetricName=Failed', 'Sum', 60)",
        "SEARCH('Failed', 'Sum', 60)",
    ],
)
def test_what_is_not_written_as_ours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"SELECT|SEARCH|search|WHERE"):
        in_expression(text)


def test_widgets_fill_a_row_and_go_on_below_its_highest() -> None:
    texts = [Text("a", 12, 4), Text("b", 12, 6), Text("c", 8, 2), Text("d", 8, 3), Text("e", 12, 1)]
    assert [(x, y, each.markdown) for x, y, each in placed(texts) if isinstance(each, Text)] == [
        *((0, 0, "a"), (12, 0, "b")),
        *((0, 6, "c"), (8, 6, "d")),
        (0, 9, "e"),
    ]
    with pytest.raises(ValueError, match="the grid has 24"):
        list(placed([Text("wide", 25)]))


def test_a_graph_has_its_units_and_a_statistic_for_each_line() -> None:
    right = Line(FAILED, "failed", right=True, colour="#d55e00")
    (widget,) = widgets_of(graph(right, right_unit="ms", period_seconds=300))
    properties = widget["properties"]
    assert properties["metrics"] == [
        [
            *("Onceward", "Failed", "Service", "onceward-dev_ingest"),
            {"label": "failed", "yAxis": "right", "color": "#d55e00", "stat": "Sum"},
        ]
    ]
    assert properties["yAxis"]["left"] == {"label": "requests per 5 minutes", "min": 0, "showUnits": False}
    assert properties["yAxis"]["right"]["label"] == "ms"
    assert (properties["period"], properties["view"]) == (300, "timeSeries")


def test_a_search_in_a_graph_has_the_graphs_period() -> None:
    search = Search("Onceward", ("Service", "Operation"), ("Failed",), ())
    (widget,) = widgets_of(graph(Found(search, "Sum", "${PROP('Dim.Operation')}"), period_seconds=300))
    ((row,),) = widget["properties"]["metrics"]
    assert row["expression"].endswith("'Sum', 300)")


def test_a_body_reads_what_its_rows_queries_and_variables_name() -> None:
    search = Search("Onceward", ("Service", "Operation"), ("Found",), (("Service", ("a",)),))
    line = Line(FAILED, "failed", id="a0", hidden=True)
    text = body(
        [
            Text("text"),
            graph(
                line, Maths("FILL(a0, 0)", "all"), Ranked(BY_TENANT.expression), Found(search, "p99", "label")
            ),
        ],
        "eu-west-1",
        [{"search": '{Onceward,Service,TenantId} MetricName="Chosen"', "populateFrom": "TenantId"}],
    )
    found = references(text)
    assert {(each.name, each.statistic) for each in found} == {
        *(("Failed", "Sum"), ("Failed", "Average"), ("Found", "p99"), ("Chosen", "SampleCount"))
    }
    assert MetricReference("Onceward", "Failed", frozenset({"Service"}), SERVICE, "Sum") in found


def test_maths_about_a_row_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="b0"):
        references(body([graph(Line(FAILED, "failed", id="a0"), Maths("a0 + b0", "sum"))], "eu-west-1"))


def test_more_alarms_than_a_widget_takes_are_refused() -> None:
    with pytest.raises(ValueError, match="101 alarms, 100 at most"):
        AlarmStatus("Alarms", tuple(map(str, range(101))), 24, 8)
