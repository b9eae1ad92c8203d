"""Composite alarms, each after those that it asks for; and when a suppressor keeps one from telling.

After "Create a composite alarm" and "Suppressing composite alarm actions" in CloudWatch's user guide.
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Literal

from ops.observing.alarm_definitions import NotCovered
from ops.observing.alarm_rules import RuleError, holds, names, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.observing.alarm_definitions import CompositeAlarm, Definitions
    from ops.observing.alarm_points import State
    from ops.observing.alarm_rules import Rule

Muted = Literal["Alarm", "WaitPeriod", "ExtensionPeriod"]
"""Why actions are suppressed, in CloudWatch's words (`ActionsSuppressedBy`)."""


@dataclass(frozen=True)
class Turn:
    """What came of one composite alarm in one minute.

    Attributes:
        tells: its actions for `state` are taken now.
        muted: why they are not, though they are due.
    """

    alarm: CompositeAlarm
    state: State
    tells: bool
    muted: Muted | None


@dataclass
class _Course:
    """One composite so far. `told`: the state that its actions were last taken for. Times are ms."""

    rule: Rule
    state: State = "INSUFFICIENT_DATA"
    told: State = "INSUFFICIENT_DATA"
    changed_ms: int = 0
    suppressed: bool = False
    released_ms: int | None = None


class Composites:
    """The composite alarms of a stage, evaluated minute after minute.

    Raises RuleError for a rule that cannot be read or names an alarm that is not there (CloudWatch refuses
    it too), NotCovered where composites ask for each other in a circle.
    """

    def __init__(self, definitions: Definitions) -> None:
        self._courses = {each.name: _Course(parse(each.rule)) for each in definitions.composite}
        self._alarms = self._in_order(definitions)

    def evaluate(self, states: Mapping[str, State], at_ms: int) -> Iterator[Turn]:
        """The turn of each, given the states of the alarms on metrics at that minute."""
        known = dict(states)
        for alarm in self._alarms:
            course = self._courses[alarm.name]
            state: State = "ALARM" if holds(course.rule, known) else "OK"
            known[alarm.name] = state
            yield self._turn(alarm, course, state, known, at_ms)

    def _turn(
        self, alarm: CompositeAlarm, course: _Course, state: State, known: Mapping[str, State], at_ms: int
    ) -> Turn:
        if state != course.state:
            course.state, course.changed_ms = state, at_ms
        muted = _muted(alarm, course, known, at_ms)
        due = state != course.told
        if due and muted is None:
            course.told = state
        return Turn(alarm, state, tells=due and muted is None, muted=muted if due else None)

    def _in_order(self, definitions: Definitions) -> list[CompositeAlarm]:
        by_name = {each.name: each for each in definitions.composite}
        known = {each.name for each in definitions.metric} | set(by_name)
        after: dict[str, frozenset[str]] = {}
        for name, alarm in by_name.items():
            asked = names(self._courses[name].rule)
            after[name] = asked | ({alarm.suppressor} if alarm.suppressor is not None else set())
            if after[name] - known:
                raise RuleError(f"{name} names no alarm: {', '.join(sorted(after[name] - known))}")
        try:
            order = list(TopologicalSorter(after).static_order())
        except CycleError as error:
            raise NotCovered(f"composites that ask for each other: {error.args[1]}") from error
        return [by_name[name] for name in order if name in by_name]


def _muted(alarm: CompositeAlarm, course: _Course, known: Mapping[str, State], at_ms: int) -> Muted | None:
    if alarm.suppressor is None:
        return None
    rings = known[alarm.suppressor] == "ALARM"
    if course.suppressed and not rings:
        course.released_ms = at_ms
    course.suppressed = rings
    if rings:
        return "Alarm"
    if course.released_ms is not None and at_ms < course.released_ms + alarm.extension_seconds * 1000:
        return "ExtensionPeriod"
    # The guide speaks of waiting only where the composite itself begins to ring.
    if course.state == "ALARM" and at_ms < course.changed_ms + alarm.wait_seconds * 1000:
        return "WaitPeriod"
    return None
