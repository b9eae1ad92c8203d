"""What the logs tell is handed over some at a time, and nothing of it is lost on the way."""

from __future__ import annotations

import gc
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from infra.naming import Names
from loadtest.history import HistoryWriter
from ops.observing import logs_seen
from ops.observing.logs_seen import LogsSeen
from ops.observing.series import Point
from tests.unit.observing.test_answered import invocation
from tests.unit.storm.stories import good

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ops.local.clients import Clients

AWS: Any = None


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Iterable[Any]]:
    """What each look finds in the logs: invocations, and errors that are met."""
    found: list[Iterable[Any]] = []

    def invocations(_self: LogsSeen) -> Iterator[Any]:
        for one in found.pop(0) if found else ():
            if isinstance(one, Exception):
                raise one
            yield one

    monkeypatch.setattr(LogsSeen, "_invocations", invocations)
    monkeypatch.setattr(LogsSeen, "_filters", lambda _self: [])
    return found


def functions(points: Iterable[list[Point]]) -> list[str]:
    """Whose invocations are counted, in order."""
    return [
        dict(point.series.dimensions)["FunctionName"].rpartition("_")[2]
        for some in points
        for point in some
        if point.series.name == "Invocations" and point.series.namespace == "AWS/Lambda"
    ]


def test_what_was_read_before_an_error_comes_with_the_next_look(reads: list[Iterable[Any]]) -> None:
    reads += [[invocation("ingest"), ConnectionError("gone")], [invocation("execute")]]
    logs = LogsSeen(AWS, Names("local"), None, 0)
    with pytest.raises(ConnectionError):
        list(logs.new())
    assert functions(logs.new()) == ["ingest", "execute"]
    assert functions(logs.new()) == []


def test_what_could_not_be_kept_comes_with_the_next_look(reads: list[Iterable[Any]]) -> None:
    reads += [[invocation("ingest")], [invocation("execute")]]
    logs = LogsSeen(AWS, Names("local"), None, 0)
    for _points in logs.new():
        break  # as one does whose disk is full
    assert functions(logs.new()) == ["ingest", "execute"]
    assert functions(logs.new()) == []


def test_few_points_are_held_however_much_there_is_to_read(
    reads: list[Iterable[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs_seen, "_POINTS_AT_ONCE", 50)
    reads += [(invocation() for _ in range(1_000))]
    before, held, count = alive(), 0, 0
    for some in LogsSeen(AWS, Names("local"), None, 0).new():
        count += len(some)
        held = max(held, alive() - before)
    assert count == 5_000
    assert held < 100


def test_the_logs_are_those_of_the_stages_functions_also_of_one_that_nobody_has_called() -> None:
    aws = FakeAws("onceward-local_ingest", "onceward-local_notify", "onceward-dev_ingest", "other")
    logs = LogsSeen(cast("Clients", aws), Names("local"), None, 0)
    assert functions(logs.new()) == ["ingest"]
    assert aws.logs.asked == ["/aws/lambda/onceward-local_ingest", "/aws/lambda/onceward-local_notify"]


class NotThere(Exception):
    """What the API raises of a log group that is not there."""


class FakeAws:
    """Functions of these names, of which ingest was called once. It has no list of log groups to ask for."""

    def __init__(self, *names: str) -> None:
        listed = {"Functions": [{"FunctionName": name} for name in names]}
        pages = SimpleNamespace(paginate=lambda: [listed])
        self.functions = SimpleNamespace(get_paginator=lambda operation: {"list_functions": pages}[operation])
        self.logs = FakeLogs()


class FakeLogs:
    exceptions = SimpleNamespace(ResourceNotFoundException=NotThere)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get_paginator(self, operation: str) -> Any:
        assert operation == "describe_metric_filters"
        return SimpleNamespace(paginate=lambda **_asked: [])

    def filter_log_events(self, *, logGroupName: str, **_asked: int) -> dict[str, Any]:  # noqa: N803
        self.asked.append(logGroupName)
        if not logGroupName.endswith("ingest"):
            raise NotThere
        return {"events": [{"logStreamName": "s", "timestamp": 1, "message": "END"}]}


def alive() -> int:
    """How many points there are in this process."""
    return sum(type(each) is Point for each in gc.get_objects())


def test_a_storm_that_begins_later_is_followed_and_the_end_of_the_one_before_is_read(
    reads: list[Iterable[Any]], tmp_path: Path
) -> None:
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    reads += [[], [invocation("ingest")]]
    logs = LogsSeen(AWS, Names("local"), first, 0)
    throttled_once(first)
    assert requests(logs.new()) == 1
    throttled_once(first)
    throttled_once(second)
    for _ in range(2):
        logs.follow(second)
    seen = list(logs.new())
    assert requests(seen) == 2
    assert functions(seen) == ["ingest"]
    throttled_once(third)
    logs.follow(third)
    assert requests(logs.new()) == 1


def throttled_once(run: Path) -> None:
    """A 429 more in the record of a storm."""
    run.mkdir(exist_ok=True)
    writer = HistoryWriter(run / f"history-{len(list(run.iterdir()))}.jsonl")
    writer.append(replace(good().attempts[0], status=429))
    writer.close()


def requests(points: Iterable[list[Point]]) -> float:
    """How many the gateway counts."""
    return sum(
        point.value
        for some in points
        for point in some
        if (point.series.namespace, point.series.name) == ("AWS/ApiGateway", "Count")
    )
