"""What can be seen of requests here, as API Gateway's metrics and as its access log."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from infra.access_log import line, metric_filters
from infra.naming import Names
from loadtest.history import HistoryWriter
from ops.observing import answered
from ops.observing.answered import Answered
from ops.observing.invocations import Invocation
from ops.observing.metric_filters import MetricFilter, of_api
from ops.observing.throttled import ThrottledAnswers
from tests.unit.storm.stories import good

if TYPE_CHECKING:
    from pathlib import Path

NAMES = Names("local")


def invocation(function: str = "ingest", *lines: str, failed: bool = False) -> Invocation:
    return Invocation(function, f"/aws/lambda/onceward-local_{function}", 1_000, 40.0, failed, lines)


def seen(function: str, **content: Any) -> Answered:
    found = answered.in_line(invocation(function), content)
    assert found is not None
    return found


def test_a_functions_line_tells_of_its_request() -> None:
    one = seen("ingest", status=201, request_ms=12.5, tenant="acme", request_id="r1", outcome="accepted")
    assert one == Answered(1_000, 201, "acme", 12.5, "r1")


def test_the_gateway_knows_no_tenant_of_a_webhook() -> None:
    assert seen("webhooks", status=202, request_ms=1, tenant="acme").tenant == "-"
    assert seen("ingest", status=400, request_ms=1, tenant=None).tenant == "-"


@pytest.mark.parametrize("outcome", ["unknown_key", "suspended"])
def test_the_authorizers_denial_is_a_403(outcome: str) -> None:
    one = seen("authorizer", outcome=outcome, tenant="acme")
    assert (one.status, one.refusal, one.tenant, one.latency_ms) == (403, "ACCESS_DENIED", "-", None)


@pytest.mark.parametrize(
    ("function", "content"),
    [
        ("authorizer", {"outcome": "allowed"}),
        ("dispatch", {"outcome": "dispatched"}),
        ("reconcile", {"status": "fine", "request_ms": 1}),
    ],
)
def test_other_lines_tell_of_no_request(function: str, content: dict[str, Any]) -> None:
    assert answered.in_line(invocation(function), content) is None


@pytest.mark.parametrize(
    ("status", "expected"),
    [(201, (1, 0, 0)), (429, (1, 1, 0)), (503, (1, 0, 1))],
)
def test_api_gateway_counts_every_request_and_its_errors(
    status: int, expected: tuple[float, float, float]
) -> None:
    points = {point.series.name: point for point in answered.points(Answered(5, status, "a", 7.0), NAMES)}
    assert tuple(points[name].value for name in ("Count", "4XXError", "5XXError")) == expected
    assert points["Latency"].value == 7.0
    assert points["Count"].series.dimensions == (("ApiName", "onceward-local_api"), ("Stage", "local"))
    assert {point.origin for point in points.values()} == {answered.ORIGIN}


def test_a_latency_that_nobody_knows_is_none() -> None:
    names = {point.series.name for point in answered.points(Answered(5, 403, "-", None), NAMES)}
    assert names == {"Count", "4XXError", "5XXError"}


def test_a_line_of_the_access_log_has_the_members_that_the_gateway_writes() -> None:
    document = Answered(5, 429, "acme", 7.25, refusal="THROTTLED").document(NAMES)
    assert document.keys() == line(NAMES).keys()
    assert document["status"] == "429"
    assert document["tenant"] == "acme"
    assert document["traceId"] == "-"


def filters() -> list[MetricFilter]:
    """Those of the program, as DescribeMetricFilters tells of them."""
    return [
        made
        for each in metric_filters(["acme"])
        for made in of_api(
            {
                "filterPattern": each.pattern,
                "metricTransformations": [
                    {
                        "metricNamespace": "Onceward",
                        "metricName": each.metric,
                        "metricValue": each.value,
                        "unit": "Count",
                        "dimensions": dict(each.dimensions),
                    }
                ],
            }
        )
    ]


def made(one: Answered) -> set[tuple[str, str | None, float]]:
    """Metric, tenant and value of what the program's filters make of a request."""
    document = one.document(NAMES)
    points = [point for each in filters() for point in each.points(document, one.at_ms, "")]
    assert all(dict(point.series.dimensions)["Service"] == "onceward-local_api" for point in points)
    return {
        (point.series.name, dict(point.series.dimensions).get("TenantId"), point.value) for point in points
    }


def test_the_programs_filters_make_the_share_that_was_throttled() -> None:
    assert made(Answered(5, 429, "acme", 1, refusal="THROTTLED")) == {
        ("Throttled", None, 1),
        ("Throttled", "acme", 1),
    }
    assert made(Answered(5, 201, "acme", 1)) == {("Throttled", "acme", 0)}


def test_the_programs_filters_count_who_had_no_good_key() -> None:
    assert made(Answered(5, 403, "-", None, refusal="ACCESS_DENIED")) == {("Unauthorized", None, 1)}
    assert made(Answered(5, 401, "-", 1)) == set()


def test_the_storms_429s_are_told_once_while_its_history_grows(tmp_path: Path) -> None:
    writer = HistoryWriter(tmp_path / "history-0.jsonl")
    attempt = good().attempts[0]
    follower = ThrottledAnswers(tmp_path)
    writer.append(attempt)
    writer.append(replace(attempt, status=429, tenant="acme", start_ms=1_000.4, end_ms=1_010.4))
    [one] = follower.new()
    assert (one.status, one.tenant, one.at_ms) == (429, "acme", 1_000)
    assert one.latency_ms == pytest.approx(10)
    assert one.refusal == "THROTTLED"
    writer.append(replace(attempt, status=429))
    assert len(list(follower.new())) == 1
    assert list(follower.new()) == []
    writer.close()


def test_a_line_that_is_not_whole_yet_waits(tmp_path: Path) -> None:
    writer = HistoryWriter(tmp_path / "history-0.jsonl")
    writer.append(replace(good().attempts[0], status=429))
    writer.close()
    path = tmp_path / "history-0.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    follower = ThrottledAnswers(tmp_path)
    assert list(follower.new()) == []
    path.write_bytes(whole)
    assert len(list(follower.new())) == 1


def test_a_429_in_a_body_is_no_429(tmp_path: Path) -> None:
    attempt = replace(good().attempts[0], response_body=json.dumps({"status": 429, "x": 1}))
    writer = HistoryWriter(tmp_path / "history-0.jsonl")
    writer.append(attempt)
    writer.close()
    assert list(ThrottledAnswers(tmp_path).new()) == []
