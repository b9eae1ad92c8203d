"""All that a local platform's logs tell in metrics: the functions' own, and what their lines stand for."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from ops.observing import answered, capacity, emf, metric_filters, services
from ops.observing.invocations import Invocation, InvocationLog
from ops.observing.throttled import ThrottledAnswers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.naming import Names
    from ops.local.clients import Clients
    from ops.observing.answered import Answered
    from ops.observing.metric_filters import MetricFilter
    from ops.observing.series import Point

FILTERED: Final = f"made here by the access log's metric filters, from lines {answered.ORIGIN}"
# Tenants come and go with an update, which takes longer than this: their subscriptions are asked for again.
_BELIEVED_SECONDS: Final = 60.0
# A megabyte or two, and some milliseconds to store.
_POINTS_AT_ONCE: Final = 5_000


class LogsSeen:
    """Reads each line once."""

    def __init__(self, aws: Clients, names: Names, run: Path | None, since_ms: int) -> None:
        """`run`: of a storm that goes on. `since_ms`: what ended before is passed over."""
        self._aws = aws
        self._names = names
        self._since_ms = since_ms
        self._logs: dict[str, InvocationLog] = {}
        self._throttled: tuple[ThrottledAnswers, ...] = ()
        self._following = threading.Lock()
        if run is not None:
            self.follow(run)
        self._subscriptions: dict[str, int] = {}
        self._asked_at = 0.0  # time.monotonic()
        self._gathered: list[Point] = []

    def follow(self, run: Path) -> None:
        """From now on read this storm's record too; of those before, the last one's end is still read."""
        with self._following:
            if run not in [each.run for each in self._throttled]:
                self._throttled = (*self._throttled[-1:], ThrottledAnswers(run))

    def new(self) -> Iterator[list[Point]]:
        """The points of what was said since the last call, some at a time: few are held, whatever was said.

        They count as kept when the next are asked for. What was read before an error, here or of whoever
        keeps them, is part of the next call's. Raises what boto3 raises, OSError and ValueError.
        """
        yield from self._handed_over()
        self._forget_what_is_old()
        filters = self._filters()
        for points in self._read(filters):
            self._gathered += points
            if len(self._gathered) >= _POINTS_AT_ONCE:
                yield from self._handed_over()
        yield from self._handed_over()

    def _handed_over(self) -> Iterator[list[Point]]:
        if self._gathered:
            yield self._gathered
            self._gathered = []

    def _read(self, filters: list[MetricFilter]) -> Iterator[Iterator[Point]]:
        """The points of one thing that was seen after the other."""
        for invocation in self._invocations():
            yield self._of_invocation(invocation, filters)
        for record in self._throttled:
            for one in record.new():
                yield self._of_answer(one, filters)

    def _invocations(self) -> Iterator[Invocation]:
        for group in self._groups():
            if group not in self._logs:
                self._logs[group] = InvocationLog(self._aws.logs, group, self._since_ms)
            try:
                yield from self._logs[group].new()
            except self._aws.logs.exceptions.ResourceNotFoundException:
                continue  # a function that nobody has called

    def _groups(self) -> list[str]:
        """The logs of the stage's functions.

        DescribeLogGroups is not asked: to say how large they are the local AWS reads all that is in them,
        and fails where something is written meanwhile, as in a storm it is.
        """
        prefix = self._names.platform("")
        pages = self._aws.functions.get_paginator("list_functions").paginate()
        names = [function["FunctionName"] for page in pages for function in page["Functions"]]
        return [self._names.log_group(name.removeprefix(prefix)) for name in names if name.startswith(prefix)]

    def _of_invocation(self, invocation: Invocation, filters: list[MetricFilter]) -> Iterator[Point]:
        contents = [content for line in invocation.lines if (content := emf.structured(line)) is not None]
        for content in filter(emf.is_metrics, contents):
            yield from emf.points(content)
        said = [content for content in contents if not emf.is_metrics(content)]
        yield from services.of_invocation(invocation, self._names)
        yield from services.of_dispatch(invocation, said, self._names)
        for content in said:
            yield from services.of_published(invocation, content, self._names, self._subscribed)
            yield from capacity.points(invocation, content, self._names)
            one = answered.in_line(invocation, content)
            if one is not None:
                yield from self._of_answer(one, filters)

    def _of_answer(self, one: Answered, filters: list[MetricFilter]) -> Iterator[Point]:
        yield from answered.points(one, self._names)
        document = one.document(self._names)
        for each in filters:
            yield from each.points(document, one.at_ms, FILTERED)

    def _filters(self) -> list[MetricFilter]:
        group = self._names.access_log_group
        try:
            pages = self._aws.logs.get_paginator("describe_metric_filters").paginate(logGroupName=group)
            return [
                made
                for page in pages
                for each in page["metricFilters"]
                for made in metric_filters.of_api(each)
            ]
        except self._aws.logs.exceptions.ResourceNotFoundException:
            return []  # the platform is not whole yet

    def _subscribed(self, tenant: str) -> int:
        if tenant not in self._subscriptions:
            topic = self._aws.arn("sns", self._names.tenant(tenant))
            pages = self._aws.sns.get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
            try:
                self._subscriptions[tenant] = sum(len(page["Subscriptions"]) for page in pages)
            except self._aws.sns.exceptions.NotFoundException:
                return 0  # it has left
        return self._subscriptions[tenant]

    def _forget_what_is_old(self) -> None:
        if time.monotonic() - self._asked_at > _BELIEVED_SECONDS:
            self._subscriptions.clear()
            self._asked_at = time.monotonic()
