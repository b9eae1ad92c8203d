"""Alarms drawn where they ring: a line on every graph of what an alarm watches."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from infra.alarm import Alarm, QueryAlarm
from infra.expressions import MetricReference, in_expression
from infra.metrics import Metric
from infra.widget_kinds import Graph, Threshold, Widget
from infra.widget_rows import Line, Maths, Ranked, Row

# So many names fit beside a line; of more the first one is named.
_NAMED: Final = 2
# What is more, or less noisy, over a longer period; a maximum or a percentile is about as high.
_OF_A_PERIOD: Final = frozenset({"Sum", "SampleCount", "Average"})


def with_alarm_lines(widgets: Iterable[Widget], alarms: Sequence[Alarm | QueryAlarm]) -> list[Widget]:
    """The widgets, with the threshold of each alarm on what a graph shows.

    A sum depends on the period that it is over, so a graph with an alarm on a sum takes the alarm's period.
    Raises ValueError for a graph with alarms over different periods: it has to be two graphs.
    """
    return [
        # Stacked, a line is as high as all below it together: no threshold is at its height.
        _drawn(each, alarms) if isinstance(each, Graph) and not each.stacked else each
        for each in widgets
    ]


def _drawn(graph: Graph, alarms: Sequence[Alarm | QueryAlarm]) -> Graph:
    rings: dict[tuple[float, bool], list[str]] = {}
    periods: set[int] = set()
    for row in graph.rows:
        for alarm in (each for each in alarms if _watches(each, row)):
            names = rings.setdefault((alarm.threshold, _is_right(row)), [])
            names.extend({_label(alarm)} - set(names))
            periods |= {alarm.period_seconds} if _depends_on_the_period(row) else set()
    if len(periods) > 1:
        raise ValueError(f"graph {graph.title!r}: alarms over {sorted(periods)} s on one graph")
    thresholds = tuple(
        Threshold(_together(names), value, right) for (value, right), names in sorted(rings.items())
    )
    return replace(graph, thresholds=thresholds, period_seconds=max(periods, default=graph.period_seconds))


def _watches(alarm: Alarm | QueryAlarm, row: Row) -> bool:
    match row, alarm:
        case Ranked(), QueryAlarm():
            return in_expression(alarm.query) == in_expression(row.query)
        case Line(hidden=False), Alarm():
            return alarm.metric == row.metric and not alarm.plus
        case Line(hidden=False), QueryAlarm():
            return any(_is_one_of(row.metric, family) for family in in_expression(alarm.query))
        case Maths(), Alarm():
            return bool(alarm.plus) and {alarm.metric, *alarm.plus} == set(row.sum_of)
        case _:
            return False


def _is_one_of(metric: Metric, family: MetricReference) -> bool:
    """Whether a query that leaves dimensions open is about this metric too."""
    return (
        (metric.namespace, metric.name, metric.statistic) == (family.namespace, family.name, family.statistic)
        and {key for key, _ in metric.dimensions} == family.dimension_names
        and set(family.dimensions) <= set(metric.dimensions)
    )


def _is_right(row: Row) -> bool:
    return isinstance(row, Line | Maths) and row.right


def _depends_on_the_period(row: Row) -> bool:
    match row:
        case Line(metric=metric):
            return metric.statistic in _OF_A_PERIOD
        case Ranked(query=query):
            return any(family.statistic in _OF_A_PERIOD for family in in_expression(query))
        case _:
            return True


def _label(alarm: Alarm | QueryAlarm) -> str:
    if isinstance(alarm, QueryAlarm):
        return alarm.name
    if alarm.wanted:
        return f"{alarm.name} (below)"
    but = "less providers', " if alarm.minus else ""
    return alarm.name if alarm.share is None else f"{alarm.name} ({but}and {alarm.share.percent} %)"


def _together(names: Sequence[str]) -> str:
    if len(names) <= _NAMED:
        return f"alarm: {', '.join(names)}"
    return f"{len(names)} alarms, such as {names[0]}"
