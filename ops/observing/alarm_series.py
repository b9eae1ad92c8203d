"""The data points of an alarm, from the metrics that were collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.observing.alarm_points import breaching, range_periods
from ops.observing.insights import is_insights
from ops.observing.queries import evaluate_queries

if TYPE_CHECKING:
    from ops.observing.alarm_definitions import MetricAlarm
    from ops.observing.store import MetricStore

Points = tuple[bool | None, ...]
"""Whether each data point is breaching, oldest first; None where the period has no data."""

ONLY: Final = ""
"""The name of the one series of an alarm without groups."""

# "Only the latest 3 hours of data can be used" (CloudWatch's guide, limits of Metrics Insights alarms).
_LONGEST_QUERY_MS: Final = 3 * 3_600_000


def series_of(alarm: MetricAlarm, store: MetricStore, at_ms: int) -> dict[str, Points]:
    """What CloudWatch evaluates at `at_ms` (a whole minute): the points of each group that a query returns.

    Of an alarm without groups, one series called `ONLY`. The periods end at `at_ms`: the windows slide by
    the minute (its guide, "Alarm evaluation").
    """
    periods, period_ms = range_periods(alarm), alarm.period_seconds * 1000
    grouped = any(is_insights(query.get("Expression", "")) for query in alarm.queries)
    if grouped:
        periods = min(periods, _LONGEST_QUERY_MS // period_ms)
    start_ms = at_ms - periods * period_ms
    found: dict[str, Points] = {}
    for line in evaluate_queries(alarm.queries, store, alarm.period_seconds, start_ms, at_ms):
        if line.visible:
            points: list[bool | None] = [None] * periods
            for moment_ms, value in line.points:
                points[(moment_ms - start_ms) // period_ms] = breaching(alarm, value)
            found[_group(line.contributor) if grouped else ONLY] = tuple(points)
    return found


def _group(contributor: tuple[tuple[str, str], ...]) -> str:
    return " ".join(value for _, value in contributor)
