"""The logs of the local AWS: each invocation is read once, whole, whatever page it comes on.

The fake stands for FilterLogEvents as the local AWS answers it (by time, at most so many, no token); that it
does is proved in tests/e2e/test_collecting.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ops.observing import invocations
from ops.observing.invocations import Invocation, InvocationLog

if TYPE_CHECKING:
    from mypy_boto3_logs import CloudWatchLogsClient

GROUP = "/aws/lambda/onceward-local_ingest"


class FakeLogs:
    """Streams, and the requests for them."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.asked: list[int] = []

    def invoked(self, name: str, at_ms: int, *lines: str) -> None:
        whole = ("START RequestId: 1", *lines, "END RequestId: 1", "REPORT RequestId: 1\tDuration: 40 ms\tX")
        self.events += [{"logStreamName": name, "timestamp": at_ms, "message": line} for line in whole]

    def filter_log_events(self, *, logGroupName: str, startTime: int, limit: int) -> dict[str, Any]:  # noqa: N803
        assert logGroupName == GROUP
        self.asked.append(startTime)
        asked = [event for event in self.events if event["timestamp"] >= startTime]
        return {"events": sorted(asked, key=lambda event: event["timestamp"])[:limit]}


def log(logs: FakeLogs, since_ms: int = 0) -> InvocationLog:
    client: CloudWatchLogsClient = logs  # type: ignore[assignment]
    return InvocationLog(client, GROUP, since_ms)


def bodies(found: list[Invocation]) -> list[str]:
    return [line for one in found for line in one.lines if not line.startswith(("START", "END", "REPORT"))]


def test_an_invocation_is_its_stream() -> None:
    logs = FakeLogs()
    logs.invoked("s1", 10_000, '{"outcome": "accepted"}')
    [one] = log(logs).new()
    assert (one.function, one.group) == ("ingest", GROUP)
    assert (one.started_ms, one.duration_ms, one.failed) == (9_960, 40.0, False)
    assert one.lines[1] == '{"outcome": "accepted"}'


@pytest.mark.parametrize(
    "line",
    ["Traceback (most recent call last):", "Task timed out after 3.00 seconds", "Worker process died"],
)
def test_one_that_raised_or_timed_out_has_failed(line: str) -> None:
    logs = FakeLogs()
    logs.invoked("s1", 10_000, "{}", line)
    assert [one.failed for one in log(logs).new()] == [True]


def test_an_error_that_was_logged_is_no_failure_of_the_function() -> None:
    logs = FakeLogs()
    logs.invoked("s1", 10_000, '{"level": "ERROR", "reason": "Traceback (most recent call last)"}')
    assert [one.failed for one in log(logs).new()] == [False]


def test_each_is_told_once_also_one_that_comes_late() -> None:
    logs = FakeLogs()
    reader = log(logs)
    logs.invoked("s1", 100_000, "one")
    assert bodies(list(reader.new())) == ["one"]
    logs.invoked("s2", 96_000, "late")
    logs.invoked("s3", 100_000, "same moment")
    assert sorted(bodies(list(reader.new()))) == ["late", "same moment"]
    assert list(reader.new()) == []


def test_a_look_does_not_begin_at_the_beginning_again() -> None:
    logs = FakeLogs()
    reader = log(logs)
    logs.invoked("s1", 100_000, "one")
    list(reader.new())
    list(reader.new())
    assert logs.asked == [0, 95_000]


def test_what_ended_before_is_passed_over() -> None:
    logs = FakeLogs()
    logs.invoked("s1", 99_999, "before")
    logs.invoked("s2", 100_000, "after")
    reader = log(logs, since_ms=100_000)
    assert bodies(list(reader.new())) == ["after"]
    assert list(reader.new()) == []


@pytest.mark.parametrize("most", [4, 5, 7, 8, 9, 40])
def test_no_page_cuts_an_invocation_in_two(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(invocations, "_MOST_EVENTS", most)
    logs = FakeLogs()
    for number in range(10):
        logs.invoked(f"s{number}", 100_000 + number, f"{number}")
    found = list(log(logs).new())
    assert bodies(found) == [str(number) for number in range(10)]
    assert {len(one.lines) for one in found} == {4}


def test_of_a_long_history_only_the_last_streams_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invocations, "_MOST_EVENTS", 40)
    logs = FakeLogs()
    for number in range(100):
        logs.invoked(f"s{number}", 100_000 + number * 1_000, f"{number}")
    reader = log(logs)
    remembered = [len(reader._seen) for _ in reader.new()]
    assert len(remembered) == 100
    assert max(remembered) < 20  # those of a page, and of the five seconds before
