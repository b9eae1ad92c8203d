"""Lets Locust forget what it keeps of each second: its statistics would grow for as long as a storm runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import gevent

if TYPE_CHECKING:
    from collections.abc import Iterator

# Locust's own figures (the current rate) look back no further than twelve seconds.
_KEPT_SECONDS = 60
_EVERY_SECONDS = 30.0


def forget_for_ever(stats: Any) -> None:  # noqa: ANN401 - locust has no types
    """Forget old seconds now and then. Runs in a greenlet of its own."""
    while True:
        gevent.sleep(_EVERY_SECONDS)
        forget(stats, int(time.time()) - _KEPT_SECONDS)


def forget(stats: Any, before: int) -> None:  # noqa: ANN401
    """Drop what `stats` (a `RequestStats`) has of each second before `before`, in seconds since the epoch.

    The sums, the percentiles and the number of requests stay: the summary at the end is made of those. The
    history is for charts of a page that nobody serves here.
    """
    stats.history.clear()
    for seconds in _by_second(stats):
        for second in [one for one in seconds if one < before]:
            del seconds[second]


def _by_second(stats: Any) -> Iterator[dict[int, int]]:  # noqa: ANN401
    for entry in (stats.total, *stats.entries.values()):
        yield entry.num_reqs_per_sec
        yield entry.num_fail_per_sec
