"""The functions' log lines that speak of one request."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mypy_boto3_logs import CloudWatchLogsClient

    from infra.naming import Names


class NoLogGroup(Exception):
    """The function has no log group: it is not deployed."""


@dataclass(frozen=True, slots=True)
class Line:
    """A structured line: when it was logged (ms since the epoch), by which function, and what it says."""

    at: int
    function: str
    content: Mapping[str, Any]


class Logs:
    """The log groups of a stage's functions."""

    def __init__(self, client: CloudWatchLogsClient, names: Names) -> None:
        self._client = client
        self._names = names

    def lines(self, function: str, term: str, since_ms: int) -> Iterator[Line]:
        """The lines since then that hold `term` (an id: it holds neither quotes nor backslashes).

        By term, and not by a pattern for JSON, so that one search works on AWS and on the local AWS alike;
        the caller looks at what the lines say. Raises NoLogGroup.
        """
        pages = self._client.get_paginator("filter_log_events").paginate(
            logGroupName=self._names.log_group(function), startTime=since_ms, filterPattern=f'"{term}"'
        )
        try:
            for page in pages:
                for event in page["events"]:
                    content = _structured(event["message"])
                    if content is not None:
                        yield Line(event["timestamp"], function, content)
        except self._client.exceptions.ResourceNotFoundException:
            raise NoLogGroup(function) from None


def _structured(message: str) -> Mapping[str, Any] | None:
    try:
        content = json.loads(message)
    except ValueError:
        return None
    # Metrics are lines of the same log (EMF), and say the same once more.
    return content if isinstance(content, dict) and "_aws" not in content else None
