"""What a run leaves for `onceward dashboard`: its metrics, and dashboards and alarms as they were then."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from loadtest.run import open_private
from ops.local.clients import Clients
from ops.local.files import private_directory
from ops.local.state import State
from ops.observing.alarm_definitions import registered
from ops.observing.collecting import Collector, Sources, endpoint_at
from ops.observing.kept_files import ALARMS, DASHBOARDS, METRICS
from ops.observing.store import MetricStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadtest.target import Target


@contextmanager
def observed(
    target: Target, home: Path, run: Path, warn: Callable[[str], None], *, since_ms: int | None = None
) -> Iterator[None]:
    """Collect the metrics of the local platform in `home` while the block runs, into the directory `run`.

    A stage on AWS has CloudWatch for that: nothing is collected. What cannot be collected is
    told (`warn`), and changes nothing of what the block does. `since_ms`: from when on; None: from now.
    """
    if target.endpoint_url is None or target.credentials is None:
        yield
        return
    endpoint = endpoint_at(target.endpoint_url, *target.credentials)
    platform = Sources(endpoint, target.region, target.stage, run)
    with MetricStore(run / METRICS) as store:
        since_ms = time.time_ns() // 1_000_000 if since_ms is None else since_ms
        collector = Collector(platform, store, since_ms=since_ms)
        try:
            with collector:
                yield
        finally:
            _keep(platform, home, run, warn)
            if collector.trouble is not None:
                warn(f"Not all metrics could be collected: {collector.trouble}")


def _keep(platform: Sources, home: Path, run: Path, warn: Callable[[str], None]) -> None:
    try:
        keep_dashboards(Clients(platform.endpoint, platform.region), run)
        keep_alarms(home, run)
    except Exception as error:  # noqa: BLE001 - the run goes on without them, and has its verdict
        warn(f"No dashboards of this run: {type(error).__name__}: {error}")


def keep_dashboards(aws: Clients, run: Path) -> None:
    """Write the body of each dashboard of the platform. Raises what boto3 raises."""
    directory = private_directory(run / DASHBOARDS)
    pages = aws.cloudwatch.get_paginator("list_dashboards").paginate()
    for name in [entry["DashboardName"] for page in pages for entry in page["DashboardEntries"]]:
        body = aws.cloudwatch.get_dashboard(DashboardName=name)["DashboardBody"]
        with open_private(directory / f"{name}.json", "w") as file:
            file.write(body)


def keep_alarms(home: Path, run: Path) -> None:
    """Write the alarms of the platform in `home`. Raises LocalPlatformError if its state cannot be read."""
    definitions = registered(State(home / "state.json").entries.values())
    with open_private(run / ALARMS, "w") as file:
        file.write(definitions.to_json())
