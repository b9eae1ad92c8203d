"""Metric filters: which lines fit a pattern, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ops.observing.metric_filters import PatternError, compiled, of_api
from ops.observing.series import SeriesName, Unit

LINE = {"status": "429", "tenant": "acme", "n": 7, "resource": "/v1/leads"}


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ('{ $.status = "429" }', True),
        ('{ $.status = "42" }', False),
        ("{ $.status = 429 }", True),
        ("{ $.status = 4* }", True),
        ('{ $.status != "429" }', False),
        ('{ $.tenant != "-" }', True),
        ('{ $.tenant = "*e" }', True),
        ('{ $.tenant = "*x" }', False),
        ('{ ($.status = "429") && ($.tenant != "-") }', True),
        ('{ ($.status = "200") || ($.tenant = "acme") }', True),
        ('{ ($.status = "200") && ($.tenant = "acme") || ($.n = 7) }', True),
        ('{ $.status = "200" && ($.tenant = "acme" || $.n = 7) }', False),
        ("{ $.n > 6 }", True),
        ("{ $.n >= 7 }", True),
        ("{ $.n < 7 }", False),
        ("{ $.n <= 6.5 }", False),
        ("{ $.resource = /v1/* }", True),
        ('{ $.missing = "x" }', False),
        ('{ $.missing != "x" }', False),
        ("{ $.tenant > 1 }", False),
    ],
)
def test_a_pattern_fits_lines_by_their_members(pattern: str, fits: bool) -> None:
    assert compiled(pattern)(LINE) is fits


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "429",
        "{ $.status }",
        "{ $.status = }",
        "{ $.a = 1",
        "{ $.a = 1 } more",
        "{ $.a.b = 1 }",
        '{ $.a > "x" }',
        "{ $.a IS NULL }",
        "{ ($.a = 1 }",
        "[ip, user]",
    ],
)
def test_other_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        compiled(pattern)


def described(**more: Any) -> dict[str, Any]:
    made = {"metricNamespace": "Onceward", "metricName": "Throttled", "metricValue": "1", **more}
    return {"filterPattern": '{ $.status = "429" }', "metricTransformations": [made]}


def test_a_filter_makes_a_point_with_its_dimensions() -> None:
    [one] = of_api(described(unit="Count", dimensions={"TenantId": "$.tenant", "Kind": "fixed"}))
    [point] = one.points(LINE, 5, "here")
    series = SeriesName.of("Onceward", "Throttled", {"TenantId": "acme", "Kind": "fixed"})
    assert (point.series, point.unit, point.at_ms, point.value) == (series, Unit.COUNT, 5, 1.0)
    assert point.origin == "here"


def test_a_value_may_come_from_the_line() -> None:
    [one] = of_api(described(metricValue="$.n"))
    assert [point.value for point in one.points(LINE, 5, "")] == [7.0]


@pytest.mark.parametrize("more", [{"dimensions": {"TenantId": "$.nobody"}}, {"metricValue": "$.nothing"}])
def test_a_line_without_the_dimension_or_the_value_makes_none(more: dict[str, Any]) -> None:
    [one] = of_api(described(**more))
    assert list(one.points(LINE, 5, "")) == []


def test_a_line_that_does_not_fit_makes_none() -> None:
    [one] = of_api(described())
    assert list(one.points({**LINE, "status": "200"}, 5, "")) == []
