"""What AWS's services would count, from what the functions' logs tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from infra.naming import Names
from ops.observing import capacity, services
from ops.observing.series import Point, SeriesName
from tests.integration.test_wire import OF_ONE_CALL
from tests.unit.observing.test_answered import invocation

if TYPE_CHECKING:
    from ops.observing.invocations import Invocation

NAMES = Names("local")


def values(points: Any) -> dict[str, float]:
    return {point.series.name: point.value for point in points}


def test_lambda_counts_and_times_each_invocation() -> None:
    fine, failed = (
        list(services.of_invocation(invocation("ingest", "one", failed=failed), NAMES))
        for failed in (False, True)
    )
    assert values(fine) == {
        "Invocations": 1,
        "Errors": 0,
        "Throttles": 0,
        "Duration": 40.0,
        "IncomingBytes": len("one") + 26,
    }
    assert values(failed)["Errors"] == 1
    assert fine[0].series == SeriesName.of(
        "AWS/Lambda", "Invocations", {"FunctionName": "onceward-local_ingest"}
    )
    assert fine[-1].series.dimensions == (("LogGroupName", "/aws/lambda/onceward-local_ingest"),)


@pytest.mark.parametrize(
    ("function", "dimensions"),
    [
        ("notify", {"EventBusName": "onceward-local_orders", "RuleName": "onceward-local_orders-notify"}),
        ("reconcile", {"RuleName": "onceward-local_reconcile"}),
    ],
)
def test_a_rules_target_is_called_by_its_rule(function: str, dimensions: dict[str, str]) -> None:
    [rule] = [
        point
        for point in services.of_invocation(invocation(function), NAMES)
        if point.series.namespace == "AWS/Events"
    ]
    assert rule.series == SeriesName.of("AWS/Events", "Invocations", dimensions)


def test_the_stream_is_as_old_as_the_oldest_record_of_the_batch() -> None:
    lines: list[dict[str, Any]] = [{"lag_ms": 12}, {"lag_ms": 700}, {"outcome": "parked"}]
    [point] = services.of_dispatch(invocation("dispatch"), lines, NAMES)
    assert (point.series.name, point.value) == ("IteratorAge", 700)
    assert list(services.of_dispatch(invocation("dispatch"), [{}], NAMES)) == []
    assert list(services.of_dispatch(invocation("deliver"), lines, NAMES)) == []


def published(function: str, **content: Any) -> dict[str, float]:
    points: list[Point] = list(
        services.of_published(invocation(function), {"tenant": "acme", **content}, NAMES, lambda _tenant: 2)
    )
    assert all(point.series.dimensions == (("TopicName", "onceward-local-acme"),) for point in points)
    return values(points)


def test_what_was_published_reached_each_subscription() -> None:
    expected = {"NumberOfMessagesPublished": 1, "NumberOfNotificationsDelivered": 2}
    assert published("dispatch", outcome="dispatched", operation="leads") == expected
    assert published("dispatch", outcome="republished", operation="payments") == expected
    assert published("notify", outcome="notified", operation="orders") == expected


@pytest.mark.parametrize(
    ("function", "content"),
    [
        ("dispatch", {"outcome": "dispatched", "operation": "orders"}),
        ("dispatch", {"outcome": "parked", "operation": "leads"}),
        ("notify", {"outcome": "failed"}),
        ("ingest", {"outcome": "accepted", "operation": "leads"}),
        ("dispatch", {"outcome": "dispatched", "operation": "leads", "tenant": None}),
    ],
)
def test_nothing_else_is_published(function: str, content: dict[str, Any]) -> None:
    assert published(function, **content) == {}


def units(function: str, **content: Any) -> dict[tuple[str, str], float]:
    one: Invocation = invocation(function)
    return {
        (
            dict(point.series.dimensions)["TableName"].removeprefix("onceward-local_"),
            point.series.name,
        ): point.value
        for point in capacity.points(one, content, NAMES)
    }


def test_units_are_those_that_are_counted_at_the_wire() -> None:
    for operation, tables in capacity.TAKEN.items():
        assert sum(tables.values()) == OF_ONE_CALL[operation, "fresh"].units.write, operation
    for operation, written in capacity.DUPLICATE.items():
        assert written == OF_ONE_CALL[operation, "duplicate"].units.write, operation
    assert capacity.TAKEN.keys() == capacity.DUPLICATE.keys()


def test_a_line_stands_for_the_units_of_what_it_says_was_done() -> None:
    write, read = "ConsumedWriteCapacityUnits", "ConsumedReadCapacityUnits"
    assert units("execute", outcome="accepted", operation="appointments") == {
        ("receipts", write): 3,
        ("slots", write): 1,
    }
    assert units("ingest", outcome="replayed", operation="orders") == {("receipts", write): 1}
    assert units("dispatch", outcome="dispatched", operation="leads") == {("records", write): 1}
    assert units("fulfil", outcome="done", operation="orders") == {("records", write): 2}
    assert units("authorizer", outcome="allowed") == {("tenants", read): 1}
    assert units("read", outcome="answered", operation="leads") == {("records", read): 1}
    assert units("ingest", outcome="rejected", operation="leads") == {}
