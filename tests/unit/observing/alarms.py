"""Alarms for tests, as the program registers them, and metrics for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ops.observing.alarm_definitions import COMPOSITE_ALARM, METRIC_ALARM, Definitions
from ops.observing.series import SeriesName, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.observing.store import MetricStore

MINUTE_MS: Final = 60_000
# Some whole minute, so that minutes count from it.
START_MS: Final = 30_000_000 * MINUTE_MS
TOPIC: Final = "arn:aws:sns:us-east-1:000000000000:onceward-local_alarms"


def inputs(name: str = "failed", **changed: Any) -> dict[str, Any]:
    """One minute's Sum of Onceward Failed of a service, from 1 on; what is missing is fine."""
    return {
        "name": name,
        "namespace": "Onceward",
        "metricName": "Failed",
        "dimensions": {"Service": "ingest"},
        "statistic": "Sum",
        "period": 60,
        "evaluationPeriods": 1,
        "threshold": 1,
        "comparisonOperator": "GreaterThanOrEqualToThreshold",
        "treatMissingData": "notBreaching",
        "alarmActions": [TOPIC],
        "okActions": [TOPIC],
    } | changed


def composite(name: str, rule: str, **changed: Any) -> dict[str, Any]:
    """A composite alarm."""
    return {"alarmName": name, "alarmRule": rule, "alarmActions": [TOPIC], "okActions": [TOPIC]} | changed


def definitions(*alarms: Mapping[str, Any]) -> Definitions:
    """These alarms."""
    return Definitions(
        tuple((COMPOSITE_ALARM if "alarmRule" in each else METRIC_ALARM, dict(each)) for each in alarms)
    )


def put(store: MetricStore, minute: int, value: float, **dimensions: str) -> None:
    """A value of Failed, half a minute into a minute; of service ingest where nothing else is said."""
    series = SeriesName.of("Onceward", "Failed", dimensions or {"Service": "ingest"})
    store.put(series, Unit.COUNT, at(minute) + MINUTE_MS // 2, value)


def at(minute: int) -> int:
    """The start of a minute, ms since the epoch."""
    return START_MS + minute * MINUTE_MS
