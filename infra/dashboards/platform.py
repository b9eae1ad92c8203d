"""The platform's dashboard: what is wrong, whom it hits, what to do first; then the details, worst first."""

from collections.abc import Sequence
from typing import Final

from infra.alarm import Alarm, QueryAlarm
from infra.composites import Composite
from infra.dashboards.alarm_lines import with_alarm_lines
from infra.dashboards.by_operation import by_operation
from infra.dashboards.errors import errors
from infra.dashboards.first_steps import HEIGHT, WIDTH, Place, for_the_platform
from infra.dashboards.hottest import hottest
from infra.dashboards.queues import queues
from infra.dashboards.requests import at_a_glance, duplicates, latency, traffic
from infra.dashboards.sections import section
from infra.dashboards.spending import cost_drivers, store
from infra.dashboards.work import dispatch, workers
from infra.expressions import in_expression
from infra.widget_kinds import GRID_WIDTH, AlarmStatus, Widget
from infra.widgets import body

_ALL_HEIGHT: Final = 8


def platform_body(place: Place, alarms: Sequence[Alarm | QueryAlarm], composites: Sequence[Composite]) -> str:
    """The platform's dashboard as JSON text, the same text for the same arguments.

    `alarms` and `composites`: all that the stage has, the tenants' own left out.
    """
    names = place.names
    widgets: tuple[Widget, ...] = (
        for_the_platform(place),
        _ringing(place, composites, alarms),
        *at_a_glance(names),
        *traffic(names),
        *duplicates(names),
        *latency(names),
        *errors(names),
        *hottest(names),
        *queues(names, topics=any(map(_is_on_topics, alarms))),
        *workers(names),
        *dispatch(names),
        *store(names),
        *cost_drivers(names),
        section("By operation", "The same again, one line for each operation."),
        *by_operation(names),
        *_all(place, composites, alarms),
    )
    return body(with_alarm_lines(widgets, alarms), place.region)


def _ringing(
    place: Place, composites: Sequence[Composite], alarms: Sequence[Alarm | QueryAlarm]
) -> AlarmStatus:
    """What pages: the composites, and what is not part of one."""
    alone = [alarm.name for alarm in alarms if alarm.name not in _within(composites)]
    return AlarmStatus(
        "Rings now (what pages)",
        _arns(place, [*(each.name for each in composites), *alone]),
        WIDTH,
        HEIGHT,
        only_ringing=True,
    )


def _all(
    place: Place, composites: Sequence[Composite], alarms: Sequence[Alarm | QueryAlarm]
) -> tuple[Widget, ...]:
    within = _within(composites)
    parts = {
        "Alarms that page": [each.name for each in composites]
        + [alarm.name for alarm in alarms if alarm.name not in within],
        "Alarms behind those of functions, API, tables, and the whole": [
            alarm.name for alarm in alarms if alarm.name in within
        ],
    }
    return (
        section("All alarms", "The latest change first."),
        *(AlarmStatus(title, _arns(place, each), GRID_WIDTH, _ALL_HEIGHT) for title, each in parts.items()),
    )


def _is_on_topics(alarm: Alarm | QueryAlarm) -> bool:
    if isinstance(alarm, Alarm):
        return False
    return any(family.namespace == "AWS/SNS" for family in in_expression(alarm.query))


def _within(composites: Sequence[Composite]) -> frozenset[str]:
    return frozenset(child for each in composites for child in each.children)


def _arns(place: Place, alarms: Sequence[str]) -> tuple[str, ...]:
    return tuple(place.arns.alarm(name) for name in alarms)
