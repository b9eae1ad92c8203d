"""Collects the metrics of a running local platform into a store, every few seconds, beside whatever runs."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from botocore.exceptions import ConnectionError as NoConnection
from botocore.exceptions import HTTPClientError

from infra.naming import Names
from ops.local.clients import Clients
from ops.local.emulator import Endpoint
from ops.observing.logs_seen import LogsSeen
from ops.observing.queues import Queues

if TYPE_CHECKING:
    from pathlib import Path

    from ops.local.outputs import LocalOutputs
    from ops.observing.series import Point
    from ops.observing.store import MetricStore

# Often enough to see a queue fill and drain during a storm of a minute.
INTERVAL_SECONDS: Final = 2.5
# Looking through the logs keeps the local AWS, which has one thread for it, from other work: longer the more
# there is in them. So it may take this share of the time, and no more: at most 2 requests in 100 meet it.
_MOST_OF_THE_TIME: Final = 0.02
# No connection, or none that holds: whatever else goes wrong is told.
_GONE: Final = (NoConnection, HTTPClientError, OSError)


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

    A platform that cannot be reached is no error: there is nothing to see. `trouble` says what went wrong
    otherwise, and is None while all is well: a collector never stops what it watches.
    """

    def __init__(self, platform: Sources, store: MetricStore, *, since_ms: int | None = None) -> None:
        """`since_ms`: what ended before is not collected; None: all that the platform still has of it."""
        names = Names(platform.stage)
        aws = Clients(platform.endpoint, platform.region)
        self._store = store
        self._queues = Queues(aws, names)
        self._logs = LogsSeen(aws, names, platform.run, since_ms or 0)
        self._logs_due = 0.0  # time.monotonic()
        self._looking = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.trouble: str | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def collect(self) -> int:
        """Look at everything now; returns how many points there were (0 of a platform that is gone)."""
        return self._look(whole=True)

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
            try:
                points = self._seen(whole=whole)
                self._store.put_all(points)
            except _GONE:
                return 0
            except Exception as error:  # noqa: BLE001 - what is watched goes on; it is told at the end
                self.trouble = f"{type(error).__name__}: {error}"
                return 0
            return len(points)

    def _seen(self, *, whole: bool) -> list[Point]:
        points = list(self._queues.look(time.time_ns() // 1_000_000))
        began = time.monotonic()
        if whole or began >= self._logs_due:
            points += self._logs.new()
            ended = time.monotonic()
            self._logs_due = ended + (ended - began) / _MOST_OF_THE_TIME
        return points
