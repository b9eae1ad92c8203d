"""What dashboards are drawn of: a platform that runs, or what a run left behind."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from ops.dashboard import runs
from ops.dashboard.alarms import AlarmWatch, RegisteredAlarms
from ops.dashboard.drawing import Seen
from ops.local.clients import Clients
from ops.local.platform import LocalPlatform
from ops.observing.alarm_definitions import Definitions
from ops.observing.collecting import Collector, sources
from ops.observing.kept_files import METRICS
from ops.observing.store import MetricStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType
    from typing import Self

    from ops.dashboard.runs import RunFiles
    from ops.local.outputs import LocalOutputs


class Source(Protocol):
    """What a page is drawn of. A context manager: what it started ends with it.

    `title`: what it is, for people. `live`: metrics are still being added.
    """

    title: str
    live: bool

    def __enter__(self) -> Self:
        """Start what it needs."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what it started."""

    def bodies(self) -> Mapping[str, str]:
        """The dashboards' bodies by name, in order."""

    def seen(self) -> Seen:
        """The metrics and alarms of this moment."""

    def notice(self) -> str | None:
        """What a reader must know of the figures, such as that the platform is gone."""


class Recorded:
    """What a run left in its directory.

    Raises ValueError, BrokenMetrics: a file of it is not what it is called; the message names the file.
    """

    live = False

    def __init__(self, files: RunFiles) -> None:
        self.title = f"Run {files.directory.name}"
        self._files = files
        kept = Definitions.from_file(files.alarms) if files.alarms.is_file() else None
        self._watch = AlarmWatch(kept)
        self._store = MetricStore(files.metrics, read_only=True)

    def __enter__(self) -> Self:
        """Nothing to start."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._store.close()

    def bodies(self) -> Mapping[str, str]:
        """The bodies as they were when it ran."""
        return self._files.bodies()

    def seen(self) -> Seen:
        """All of it: the same at every call."""
        span = self._store.span()
        alarms = {} if span is None else self._watch.states(self._store, span[1])
        return Seen(self._store, alarms, None)

    def notice(self) -> str | None:
        """What is wrong with its alarms, if anything is."""
        return self._watch.fault


class Live:
    """A local platform that runs. Its metrics are collected, in a temporary file, while this is entered."""

    live = True
    _store: MetricStore
    _collector: Collector

    def __init__(self, home: Path, outputs: LocalOutputs) -> None:
        """Raises LocalPlatformError, ValueError: what was registered cannot be read."""
        self.title = f"Local platform in {home}"
        self._home = home
        self._outputs = outputs
        self._cloudwatch = Clients(sources(outputs).endpoint, outputs.region).cloudwatch
        self._alarms = RegisteredAlarms(home)
        self._bodies: dict[str, str] = {}
        self._gone: str | None = None
        self._started = ExitStack()

    def __enter__(self) -> Self:
        """Collect what there is already, and start to collect what comes."""
        with ExitStack() as started:
            kept = started.enter_context(
                tempfile.TemporaryDirectory(prefix="onceward-dashboard-", ignore_cleanup_errors=True)
            )
            self._store = started.enter_context(MetricStore(Path(kept) / METRICS))
            self._collector = Collector(sources(self._outputs, runs.going_on(self._home)), self._store)
            self._collector.collect()
            started.callback(self._collector.stop)
            self._collector.start()
            self._started = started.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop to collect, and forget what was collected."""
        self._started.close()

    def bodies(self) -> Mapping[str, str]:
        """As CloudWatch has them now; those of before when the platform does not answer any more."""
        try:
            names = sorted(
                each["DashboardName"]
                for page in self._cloudwatch.get_paginator("list_dashboards").paginate()
                for each in page["DashboardEntries"]
            )
            self._bodies = {
                name: self._cloudwatch.get_dashboard(DashboardName=name)["DashboardBody"] for name in names
            }
            self._gone = None
        except (BotoCoreError, ClientError) as error:
            self._gone = f"The platform does not answer any more; this is what it was. ({error})"
        return self._bodies

    def seen(self) -> Seen:
        """What was collected until now."""
        self._follow()
        now_ms = int(time.time() * 1000)
        return Seen(self._store, self._alarms.states(self._store, now_ms), now_ms)

    def notice(self) -> str | None:
        """That the platform is gone, or what is wrong with its metrics or alarms."""
        trouble = self._collector.trouble
        return (
            self._gone or (trouble and f"Not all metrics could be collected: {trouble}") or self._alarms.fault
        )

    def _follow(self) -> None:
        """Look at the storm that has begun since: only its history has what the gateway answers by itself."""
        run = runs.going_on(self._home)
        if run is not None:
            self._collector.follow(run)


def live(homes: Iterable[Path]) -> Live | None:
    """The first home's platform that runs, whole; None if none does. Raises LocalPlatformError."""
    for home in homes:
        platform = LocalPlatform(home)
        if platform.status().running and platform.outputs_file.exists():
            return Live(home, platform.outputs())
    return None
