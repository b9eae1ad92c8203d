"""An alarm's line is on the graphs of what it watches, and true there: at its height, over its period."""

from typing import Any

import pytest

from infra.alarm import Alarm, QueryAlarm, Share
from infra.dashboards.alarm_lines import with_alarm_lines
from infra.dashboards.sections import hidden, share, total
from infra.expressions import Select
from infra.metrics import Metric
from infra.widget_kinds import Graph
from infra.widget_rows import Found, Line, Maths, Ranked

SERVICE = (("Service", "onceward-dev_ingest"),)
FAILED = Metric("Onceward", "Failed", SERVICE, "Sum")
BY_TENANT = Select("AVG", "Failed", "Onceward", ("Service", "TenantId"), SERVICE, "TenantId")


def graph(*rows: Line | Maths | Found | Ranked, **fields: Any) -> Graph:
    return Graph("Title", "requests per {period}", rows, **fields)


def drawn(graph: Graph, *alarms: Alarm | QueryAlarm) -> tuple[int, dict[str, tuple[float, bool]]]:
    (found,) = with_alarm_lines([graph], alarms)
    assert isinstance(found, Graph)
    return found.period_seconds, {each.label: (each.value, each.right) for each in found.thresholds}


def test_an_alarm_is_drawn_on_what_it_watches_over_its_own_period() -> None:
    alarm = Alarm("ingest-failed", "", FAILED, 3)
    assert drawn(graph(Line(FAILED, "failed", right=True)), alarm) == (
        300,
        {"alarm: ingest-failed": (3, True)},
    )
    other = Metric("Onceward", "Failed", (("Service", "onceward-dev_read"),), "Sum")
    assert drawn(graph(Line(other, "failed")), alarm) == (60, {})
    assert drawn(graph(Line(FAILED, "failed", id="a", hidden=True)), alarm) == (60, {})


def test_an_alarm_on_a_maximum_leaves_the_graph_its_period() -> None:
    age = Metric("AWS/SQS", "ApproximateAgeOfOldestMessage", (("QueueName", "q"),), "Maximum")
    assert drawn(graph(Line(age, "age")), Alarm("age", "", age, 900, 300)) == (
        60,
        {"alarm: age": (900, False)},
    )


def test_an_alarm_on_a_sum_is_drawn_on_the_line_of_that_sum() -> None:
    other = Metric("Onceward", "Failed", (("Service", "onceward-dev_read"),), "Sum")
    alarm = Alarm("failed", "", FAILED, 10, 600, plus=(other,), share=Share((FAILED,), 50))
    both, one = hidden("a", [other, FAILED]), hidden("a", [FAILED])
    assert drawn(graph(*both, total(both, "all")), alarm) == (600, {"alarm: failed (and 50 %)": (10, False)})
    assert drawn(graph(*one, total(one, "all")), alarm) == (60, {})


def test_a_query_is_drawn_on_its_own_lines_and_on_those_of_one_of_its_tenants() -> None:
    rule = QueryAlarm("tenants-failing", "", BY_TENANT.expression, 0.25, "runbook", 300, 2, 3)
    expected = (300, {"alarm: tenants-failing": (0.25, False)})
    assert drawn(graph(Ranked(BY_TENANT.expression)), rule) == expected
    bee = Metric("Onceward", "Failed", (*SERVICE, ("TenantId", "bee")), "Average")
    assert drawn(graph(Line(bee, "share")), rule) == expected
    elsewhere = Metric(
        "Onceward", "Failed", (("Service", "onceward-prod_ingest"), ("TenantId", "bee")), "Average"
    )
    assert drawn(graph(Line(elsewhere, "share")), rule) == (60, {})


def test_alarms_at_the_same_height_are_one_line() -> None:
    alarms = [Alarm(name, "", FAILED, 3) for name in ("one", "two", "three")]
    line = Line(FAILED, "failed")
    assert drawn(graph(line), *alarms[:2])[1] == {"alarm: one, two": (3, False)}
    assert drawn(graph(line), *alarms)[1] == {"3 alarms, such as one": (3, False)}


def test_sums_over_different_periods_are_not_drawn_on_one_graph() -> None:
    alarms = [Alarm("one", "", FAILED, 3, 300), Alarm("two", "", FAILED, 3, 600)]
    with pytest.raises(ValueError, match=r"over \[300, 600\] s on one graph"):
        with_alarm_lines([graph(Line(FAILED, "failed"))], alarms)


def test_no_line_is_drawn_where_lines_are_stacked() -> None:
    assert drawn(graph(Line(FAILED, "failed"), stacked=True), Alarm("one", "", FAILED, 3)) == (60, {})


def test_a_share_of_nothing_is_nothing() -> None:
    part, rest = hidden("a", [FAILED]), hidden("b", [FAILED])
    assert share(part, rest, "share").expression == (
        "IF(FILL(a0, 0) + FILL(b0, 0) > 0, 100 * (FILL(a0, 0)) / (FILL(a0, 0) + FILL(b0, 0)), 0)"
    )
