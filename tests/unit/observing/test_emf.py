"""The embedded metric format: what our functions really print becomes the series that CloudWatch makes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from handlers.adapters import metrics
from ops.observing import emf
from ops.observing.series import SeriesName, Unit

if TYPE_CHECKING:
    from ops.observing.series import Point


def line(**more: Any) -> dict[str, Any]:
    directive = {
        "Namespace": "Onceward",
        "Dimensions": [["Service"], ["Service", "Operation"]],
        "Metrics": [{"Name": "Accepted", "Unit": "Count"}, {"Name": "Latency", "Unit": "Milliseconds"}],
    }
    values = {"Service": "ingest", "Operation": "leads", "Accepted": 1, "Latency": [2.5, 3.5]}
    return {"_aws": {"Timestamp": 1_700_000_000_123, "CloudWatchMetrics": [directive]}, **values, **more}


def test_each_metric_is_a_point_under_each_set_of_dimensions() -> None:
    points = list(emf.points(line()))
    service = SeriesName.of("Onceward", "Accepted", {"Service": "ingest"})
    both = SeriesName.of("Onceward", "Accepted", {"Service": "ingest", "Operation": "leads"})
    counted = [point for point in points if point.series.name == "Accepted"]
    assert [point.series for point in counted] == [service, both]
    assert {(point.unit, point.at_ms, point.value) for point in counted} == {
        (Unit.COUNT, 1_700_000_000_123, 1.0)
    }


def test_a_list_is_several_values() -> None:
    values = [point.value for point in emf.points(line()) if point.series.name == "Latency"]
    assert values == [2.5, 3.5, 2.5, 3.5]


def test_an_unknown_unit_is_none() -> None:
    content = line()
    content["_aws"]["CloudWatchMetrics"][0]["Metrics"] = [{"Name": "Accepted"}]
    assert {point.unit for point in emf.points(content)} == {Unit.NONE}


@pytest.mark.parametrize("missing", ["Service", "Operation", "Accepted", "_aws"])
def test_a_line_that_lacks_what_it_announces_is_refused(missing: str) -> None:
    content = line()
    del content[missing]
    with pytest.raises(ValueError, match="not in the embedded metric format"):
        list(emf.points(content))


@pytest.mark.parametrize("text", ["", "START RequestId: 1", "{not json", "[1]", '"{"'])
def test_other_lines_are_not_structured(text: str) -> None:
    assert emf.structured(text) is None


def test_a_line_for_people_is_no_metrics() -> None:
    assert not emf.is_metrics({"message": "accepted"})
    assert not emf.is_metrics({"_aws": None})
    assert emf.is_metrics(line())


def printed(capsys: pytest.CaptureFixture[str]) -> list[Point]:
    contents = [emf.structured(text) for text in capsys.readouterr().out.splitlines()]
    return [point for content in contents if content is not None for point in emf.points(content)]


def test_what_the_functions_print_is_read_as_it_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    about = metrics.About("dev", "ingest", "leads", "acme")
    metrics.emit(about, {"Accepted": 1}, {"RequestLatency": 12.5})
    found = {(point.series.name, point.series.dimensions): point.value for point in printed(capsys)}
    of_service = (("Service", "onceward-dev_ingest"),)
    assert found["Accepted", of_service] == 1
    assert found["Accepted", (*of_service, ("TenantId", "acme"))] == 1
    assert found["RequestLatency", (("Operation", "leads"), *of_service)] == 12.5


def test_an_emf_line_survives_its_way_through_a_log() -> None:
    assert emf.structured(json.dumps(line())) == line()
