"""Reads what the functions of the local platform said: one invocation after the other, each once.

The local AWS writes a log stream for each invocation, whole and at its end, and all lines with the time of
that end. So a stream is an invocation, and one that was seen is done with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mypy_boto3_logs import CloudWatchLogsClient

# The most that FilterLogEvents gives; the local AWS has no token for the rest.
_MOST_EVENTS: Final = 10_000
# A stream gets its time before it is there to be read: its thread may have to wait for its turn in between.
_LATE_MS: Final = 5_000
_REPORT: Final = re.compile(r"^REPORT RequestId: \S+\tDuration: (?P<ms>[\d.]+) ms")
# What the local AWS adds to the log of a function that raised, ran out of time or died. None of ours logs a
# traceback by itself: their lines are JSON.
_FAILED: Final = ("Traceback (most recent call last)", "Task timed out after", "Worker process died")


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a function.

    Attributes:
        function: its name without stage, such as `ingest`.
        group: its log group.
        started_ms: when it began, ms since the epoch.
        duration_ms: how long it took, with some 5 ms for which the local AWS waits for the last lines.
        failed: it raised, ran out of time, or died.
        lines: what is in its log.
    """

    function: str
    group: str
    started_ms: int
    duration_ms: float
    failed: bool
    lines: tuple[str, ...]


class InvocationLog:
    """The log group of one function."""

    def __init__(self, client: CloudWatchLogsClient, group: str, since_ms: int) -> None:
        """`since_ms`: what ended before is passed over."""
        self._client = client
        self._group = group
        self._from = since_ms
        self._since = since_ms
        self._seen: dict[str, int] = {}

    def new(self) -> Iterator[Invocation]:
        """The invocations that ended since the last call."""
        while True:
            events: Sequence[Any] = self._client.filter_log_events(
                logGroupName=self._group, startTime=self._from, limit=_MOST_EVENTS
            )["events"]
            if len(events) < _MOST_EVENTS:
                yield from self._unseen(events)
                self._forget(events)
                return
            # The streams of the last moment may be cut off: they are the first of the next page.
            last = events[-1]["timestamp"]
            before = [event for event in events if event["timestamp"] < last]
            yield from self._unseen(before or events)
            # A page of one moment is as much of it as can be had.
            self._from = last if before else last + 1
            self._seen = {stream: at for stream, at in self._seen.items() if at >= last - _LATE_MS}

    def _unseen(self, events: Sequence[Any]) -> Iterator[Invocation]:
        streams = sorted(events, key=itemgetter("logStreamName"))  # stable: lines stay in order
        for stream, lines in groupby(streams, key=itemgetter("logStreamName")):
            if stream not in self._seen:
                told = list(lines)
                self._seen[stream] = told[-1]["timestamp"]
                yield _invocation(self._group, told)

    def _forget(self, events: Sequence[Any]) -> None:
        """The next look begins a little before the last line; what it meets again is remembered till then."""
        if not events:
            return
        newest = max(event["timestamp"] for event in events)
        self._from = max(self._since, newest - _LATE_MS)
        self._seen = {stream: at for stream, at in self._seen.items() if at >= self._from}


def _invocation(group: str, events: Sequence[Any]) -> Invocation:
    lines = tuple(event["message"] for event in events)
    reports = (_REPORT.match(line) for line in reversed(lines))
    duration = next((float(found["ms"]) for found in reports if found), 0.0)
    return Invocation(
        function=group.rpartition("_")[2],
        group=group,
        started_ms=events[-1]["timestamp"] - round(duration),
        duration_ms=duration,
        failed=any(line.startswith(_FAILED) for line in lines),
        lines=lines,
    )
