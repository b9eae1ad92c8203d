"""The platform's queues as SQS would measure them, by looking into the local AWS's own list of messages."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any, Final

from infra import metrics
from ops.observing.naming import of_metric
from ops.observing.series import Point, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.naming import Names
    from ops.local.clients import Clients

ORIGIN: Final = "observed here by looking into the queue every few seconds (AWS: once a minute)"
# Of the local AWS alone: it shows messages without receiving them, which would hide them.
_MESSAGES: Final = "/_ministack/sqs/messages"
_TIMEOUT_SECONDS: Final = 10
# SQS leaves a message that was received more often than this out of the age (its guide, "Available metrics").
_MOST_RECEIVES: Final = 3
# Queues come and go with an update, which takes longer than this: they are asked for again.
_BELIEVED_SECONDS: Final = 60.0
# A dashboard's finest period (`ops.dashboard.windows`): a queue that stays as it is is told once in each.
_SPARING_MS: Final = 10_000


class Queues:
    """The queues of one stage's platform; those of its tenants are no part of it."""

    def __init__(self, aws: Clients, names: Names) -> None:
        self._aws = aws
        self._names = names
        self._urls: list[str] = []
        self._asked_at: float | None = None  # time.monotonic()
        self._told: dict[str, tuple[int, int, int]] = {}

    def look(self, now_ms: int, *, sparing: bool = False) -> Iterator[Point]:
        """Depth and age of each queue at this moment (ms since the epoch).

        `sparing`: a queue with as many messages as were told is told once in ten seconds of the clock.
        Raises what boto3 raises, OSError without a connection, and ValueError.
        """
        for url in self._found():
            messages = self._messages(url)
            depth = sum(message["IsVisible"] for message in messages)
            told = depth, len(messages), now_ms // _SPARING_MS
            if not sparing or self._told.get(url) != told:
                self._told[url] = told
                yield from self._measured(url.rpartition("_")[2], messages, depth, now_ms)

    def _found(self) -> list[str]:
        now = time.monotonic()
        if self._asked_at is None or now >= self._asked_at + _BELIEVED_SECONDS:
            prefix = self._names.platform("")
            self._urls = self._aws.sqs.list_queues(QueueNamePrefix=prefix).get("QueueUrls", [])
            # A platform without any is still being made.
            self._asked_at = now if self._urls else None
        return self._urls

    def _messages(self, url: str) -> list[dict[str, Any]]:
        asked = f"{self._aws.endpoint_url}{_MESSAGES}?{urllib.parse.urlencode({'QueueUrl': url})}"
        try:
            with urllib.request.urlopen(asked, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310 (http, loopback)
                found = json.load(answer)["messages"]
        except urllib.error.HTTPError as error:
            raise ValueError(f"{url}: the local AWS does not show its messages: {error}") from error
        return [
            message
            for regions in found.values()
            for queues in regions.values()
            for messages in queues.values()
            for message in messages
        ]

    def _measured(
        self, queue: str, messages: list[dict[str, Any]], visible: int, now_ms: int
    ) -> Iterator[Point]:
        sent = [
            message["SentTimestamp"]
            for message in messages
            if message["ReceiveCount"] <= _MOST_RECEIVES or queue.endswith("-dlq")
        ]
        age = max(0.0, now_ms / 1000 - min(sent)) if sent else 0.0
        depth = of_metric(metrics.queue(self._names, queue, "ApproximateNumberOfMessagesVisible"))
        hidden = of_metric(metrics.queue(self._names, queue, "ApproximateNumberOfMessagesNotVisible"))
        oldest = of_metric(metrics.queue(self._names, queue, "ApproximateAgeOfOldestMessage"))
        yield Point(depth, Unit.COUNT, now_ms, visible, origin=ORIGIN)
        yield Point(hidden, Unit.COUNT, now_ms, len(messages) - visible, origin=ORIGIN)
        yield Point(oldest, Unit.SECONDS, now_ms, round(age), origin=ORIGIN)
