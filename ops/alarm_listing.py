"""How the alarms of a stage are: from CloudWatch, or evaluated here where there is none."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ops.observing.alarm_definitions import Definitions, registered
from ops.observing.alarm_states import current, look_back_ms
from ops.observing.insights import is_insights
from ops.observing.kept_files import METRICS
from ops.observing.store import MetricStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mypy_boto3_cloudwatch import CloudWatchClient

    from infra.naming import Names
    from ops.local.outputs import LocalOutputs
    from ops.observing.alarm_states import AlarmState

_MINUTE_MS: Final = 60_000


@dataclass(frozen=True)
class Listed:
    """An alarm of a stage.

    Attributes:
        state: OK, ALARM or INSUFFICIENT_DATA.
        tenants: whom it rings for, of an alarm on all tenants.
        since_ms: when it last changed, ms since the epoch; never after the moment of the look.
        measured_now: it changed in the minute that goes on, so since when is not known: what only a look
            measures, such as the depth of a queue, has no values from before it.
    """

    name: str
    state: str
    tenants: tuple[str, ...]
    since_ms: int
    description: str
    measured_now: bool = False


def of_run(metrics: Path, alarms: Path) -> list[Listed]:
    """At the end of a run that left these files.

    Raises OSError, ValueError or BrokenMetrics where they are not such; the message names the file.
    """
    definitions = Definitions.from_file(alarms)
    with MetricStore(metrics, read_only=True) as store:
        span = store.span()
        # The minute that the last point is in has to be over.
        last_ms = 0 if span is None else span[1]
        return _evaluated(definitions, current(definitions, store, last_ms + _MINUTE_MS), last_ms)


def of_local(home: Path, outputs: LocalOutputs) -> list[Listed]:
    """Of the local platform that runs in `home`, now; what it has measured lately is looked up first.

    Raises LocalPlatformError where its state cannot be read, or not all of it could be looked at: an alarm
    that nobody could look at is not fine.
    """
    # boto3 takes its time to load, and of a run nothing is asked of it.
    from ops.local.errors import LocalPlatformError
    from ops.local.state import State
    from ops.observing.collecting import Collector, sources

    definitions = registered(State(home / "state.json").present())
    now_ms = time.time_ns() // 1_000_000
    with (
        tempfile.TemporaryDirectory(prefix="onceward-alarms-") as directory,
        MetricStore(Path(directory) / METRICS) as store,
    ):
        # Windows reach as far back again as the first look at them.
        collector = Collector(sources(outputs), store, since_ms=now_ms - 2 * look_back_ms(definitions))
        collector.collect()
        if collector.gone:
            raise LocalPlatformError(
                f"{outputs.endpoint_url}: the local platform does not answer; bring it up (`make up`)"
            )
        if collector.trouble is not None:
            raise LocalPlatformError(f"Not all metrics could be collected: {collector.trouble}")
        # Of the minute that is not over, all there is.
        found = _evaluated(definitions, current(definitions, store, now_ms + _MINUTE_MS), now_ms)
    return [replace(each, measured_now=each.since_ms == now_ms) for each in found]


def on_aws(cloudwatch: CloudWatchClient, names: Names) -> list[Listed]:
    """As CloudWatch itself says. Raises what boto3 raises."""
    prefixes = (names.platform(""), names.tenant_prefix)
    pages = cloudwatch.get_paginator("describe_alarms").paginate(
        AlarmTypes=["MetricAlarm", "CompositeAlarm"], AlarmNamePrefix=prefixes[0][:-1]
    )
    described: list[Mapping[str, Any]] = [
        alarm
        for page in pages
        for alarm in (*page["MetricAlarms"], *page["CompositeAlarms"])
        # `onceward-dev` is the beginning of another stage's names too.
        if alarm["AlarmName"].startswith(prefixes)
    ]
    return _sorted(
        Listed(
            alarm["AlarmName"],
            alarm["StateValue"],
            _contributors(cloudwatch, alarm),
            int(alarm["StateUpdatedTimestamp"].timestamp() * 1000),
            alarm.get("AlarmDescription", ""),
        )
        for alarm in described
    )


def _contributors(cloudwatch: CloudWatchClient, alarm: Mapping[str, Any]) -> tuple[str, ...]:
    """Whom an alarm on all tenants rings for; 100 at the most, as CloudWatch has it."""
    asks = any(is_insights(query.get("Expression", "")) for query in alarm.get("Metrics", ()))
    if alarm["StateValue"] != "ALARM" or not asks:
        return ()
    answer = cloudwatch.describe_alarm_contributors(AlarmName=alarm["AlarmName"])
    return tuple(
        sorted(" ".join(each["ContributorAttributes"].values()) for each in answer["AlarmContributors"])
    )


def _evaluated(definitions: Definitions, states: Mapping[str, AlarmState], last_ms: int) -> list[Listed]:
    """Of states that were evaluated at the end of the minute that `last_ms` is in: none is from after it."""
    told = {each.name: each.description for each in definitions.metric}
    told |= {each.name: each.description for each in definitions.composite}
    return _sorted(
        Listed(name, each.state, each.contributors, min(each.since_ms, last_ms), told[name])
        for name, each in states.items()
    )


def _sorted(alarms: Iterable[Listed]) -> list[Listed]:
    """What rings first."""
    order = ("ALARM", "INSUFFICIENT_DATA", "OK")
    return sorted(alarms, key=lambda alarm: (order.index(alarm.state), alarm.name))
