"""Collects the metrics of a running local platform into a store, every few seconds, beside whatever runs."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import TYPE_CHECKING, Final, Self
from urllib.error import URLError
from urllib.parse import urlsplit

from botocore.exceptions import ConnectionError as NoConnection
from botocore.exceptions import HTTPClientError

from infra.naming import Names
from ops.local.clients import Clients
from ops.local.emulator import Endpoint
from ops.observing.logs_seen import LogsSeen
from ops.observing.queues import Queues

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ops.local.outputs import LocalOutputs
    from ops.observing.store import MetricStore

# Often enough to see a queue fill and drain during a storm of a minute.
INTERVAL_SECONDS: Final = 2.5
# Looking through the logs keeps the local AWS, which has one thread for it, from other work: longer the more
# there is in them. So it may take this share of the time: at most 2 requests in 100 meet it.
_MOST_OF_THE_TIME: Final = 0.02
# But whoever watches waits no longer than this, a quarter of the shortest period of our alarms. Only what was
# said since the last look is read, so that looks of more than 0.3 s, which it is for, are few (ADR 125).
_LONGEST_PAUSE_SECONDS: Final = 15.0
# No connection, or none that holds: whatever else goes wrong is told.
_GONE: Final = (NoConnection, HTTPClientError, URLError, HTTPException, ConnectionError, TimeoutError)
# Longer than any range that a dashboard shows but all of it, so that what watches for days does not grow.
_KEPT_MS: Final = 24 * 3_600_000
# To drop what is older takes some milliseconds: there is no need to do it at each look.
_FORGET_SECONDS: Final = 600.0


@dataclass(frozen=True)
class Sources:
    """Where a local platform can be looked at. `run`: the directory of a storm that goes on, or None."""

    endpoint: Endpoint = field(repr=False)
    region: str
    stage: str
    run: Path | None = None


def sources(outputs: LocalOutputs, run: Path | None = None) -> Sources:
    """Of the platform with these outputs. `run`: of a storm, whose history tells what no log does (429s)."""
    endpoint = endpoint_at(outputs.endpoint_url, outputs.access_key_id, outputs.secret_access_key)
    return Sources(endpoint, outputs.region, outputs.stage, run)


def endpoint_at(url: str, access_key_id: str, secret_access_key: str) -> Endpoint:
    """The local AWS at this URL. Raises ValueError for one without a port, which is not the local AWS's."""
    port = urlsplit(url).port
    if port is None:
        raise ValueError(f"{url}: has no port")
    return Endpoint(port, access_key_id, secret_access_key)


class Collector:
    """Looks at a platform and puts what it sees into a store: when asked (`collect`), or until stopped.

    A platform that cannot be reached is no error: there is nothing to see, and `gone` says so of the last
    look. `trouble` says what went wrong otherwise, and is None while all is well: a collector never stops
    what it watches. What was measured more than a day ago is dropped from the store.
    """

    def __init__(self, platform: Sources, store: MetricStore, *, since_ms: int | None = None) -> None:
        """`since_ms`: what ended before is not collected; None: all of the last day."""
        names = Names(platform.stage)
        aws = Clients(platform.endpoint, platform.region)
        self._store = store
        self._queues = Queues(aws, names)
        self._logs = LogsSeen(aws, names, platform.run, max(since_ms or 0, _day_ago_ms()))
        self._looked = False
        self._logs_due = 0.0  # time.monotonic()
        self._forget_due = time.monotonic() + _FORGET_SECONDS
        self._looking = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.trouble: str | None = None
        self.gone = False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def collect(self) -> int:
        """Look at everything now; returns how many points there were (0 of a platform that is gone)."""
        return self._look(whole=True)

    def follow(self, run: Path) -> None:
        """Read the record of this storm too (its directory): it tells what no log does (429s)."""
        self._logs.follow(run)

    def start(self) -> None:
        """Look every `INTERVAL_SECONDS`, in a thread, until `stop`."""
        self._thread = threading.Thread(target=self._watch, name="metrics", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End that, with a last look at everything."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        self._look(whole=True)

    def _watch(self) -> None:
        while not self._stopped.wait(INTERVAL_SECONDS):
            self._look(whole=False)

    def _look(self, *, whole: bool) -> int:
        with self._looking:
            self.gone = False
            points = self._tried(lambda: self._look_at_queues(whole=whole))
            if not self.gone and (whole or time.monotonic() >= self._logs_due):
                points += self._tried(self._look_at_logs)
            self._tried(self._forget)
            return points

    def _tried(self, look: Callable[[], int]) -> int:
        """What goes wrong with one look keeps nobody from the next."""
        try:
            return look()
        except _GONE:
            self.gone = True
        except Exception as error:  # noqa: BLE001 - what is watched goes on; it is told at the end
            self.trouble = f"{type(error).__name__}: {error}"
        return 0

    def _look_at_queues(self, *, whole: bool) -> int:
        points = list(self._queues.look(time.time_ns() // 1_000_000, sparing=not whole))
        self._store.put_all(points)
        return len(points)

    def _look_at_logs(self) -> int:
        began, first, count = time.monotonic(), not self._looked, 0
        self._looked = True
        try:
            for points in self._logs.new():
                self._store.put_all(points)
                count += len(points)
        finally:
            # The first look is at all that there was before: no other takes as long.
            ended = time.monotonic()
            pause = 0.0 if first else (ended - began) / _MOST_OF_THE_TIME
            self._logs_due = ended + min(pause, _LONGEST_PAUSE_SECONDS)
        return count

    def _forget(self) -> int:
        if time.monotonic() >= self._forget_due:
            self._forget_due = time.monotonic() + _FORGET_SECONDS
            self._store.forget(_day_ago_ms())
        return 0


def _day_ago_ms() -> int:
    return time.time_ns() // 1_000_000 - _KEPT_MS
