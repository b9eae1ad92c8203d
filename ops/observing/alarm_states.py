"""What state each alarm is in, minute by minute, and whom it tells, as CloudWatch would have it.

What is not covered is refused (`alarm_definitions.NotCovered`) or listed in docs/adr/0129.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ops.observing.alarm_composites import Composites
from ops.observing.alarm_points import decide, range_periods
from ops.observing.alarm_series import ONLY, series_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.observing.alarm_composites import Muted, Turn
    from ops.observing.alarm_definitions import Definitions, MetricAlarm
    from ops.observing.alarm_points import State
    from ops.observing.store import MetricStore

_MINUTE_MS: Final = 60_000


@dataclass(frozen=True)
class AlarmState:
    """How an alarm is. `contributors`: its query's groups that ring, sorted. `since_ms`: its last change.

    `muted`: why it has not told of that yet though it is to (composites only); None when nothing keeps it.
    """

    state: State
    contributors: tuple[str, ...]
    since_ms: int
    muted: Muted | None = None


@dataclass(frozen=True)
class Change:
    """An alarm went from one state to another at `at_ms` (ms since the epoch)."""

    at_ms: int
    alarm: str
    before: State
    after: State


@dataclass(frozen=True)
class Notification:
    """An alarm told `topics` (ARNs) that it is in `state`; `contributor`: the group of its query, if any."""

    at_ms: int
    alarm: str
    state: State
    topics: tuple[str, ...]
    contributor: str = ""


@dataclass(frozen=True)
class History:
    """What came of the alarms.

    Attributes:
        states: how each is at the end, by name.
        contributors: (alarm, group) of all that rang at some time.
        muted: (alarm, why) of what a suppressor kept from telling at some time (now: see `states`).
    """

    states: Mapping[str, AlarmState]
    changes: tuple[Change, ...]
    notifications: tuple[Notification, ...]
    contributors: frozenset[tuple[str, str]]
    muted: frozenset[tuple[str, Muted]]

    def rang(self) -> frozenset[str]:
        """The alarms that were in ALARM at some time."""
        return frozenset(change.alarm for change in self.changes if change.after == "ALARM")

    def ringing(self) -> frozenset[str]:
        """The alarms that are in ALARM at the end."""
        return frozenset(name for name, each in self.states.items() if each.state == "ALARM")


def look_back_ms(definitions: Definitions) -> int:
    """How far back a look at the present begins (ms): twice the longest evaluation range.

    Once for the state before, which some alarms keep, and once for what follows from a change of it.
    """
    ranges = [range_periods(alarm) * alarm.period_seconds * 1000 for alarm in definitions.metric]
    return 2 * max(ranges, default=0)


def current(definitions: Definitions, store: MetricStore, now_ms: int) -> Mapping[str, AlarmState]:
    """How each alarm is at `now_ms`, by name, after some time of watching."""
    span = store.span()
    first_ms = now_ms if span is None else span[0]
    start_ms = max(first_ms, now_ms - look_back_ms(definitions))
    return watch(definitions, store, min(start_ms, now_ms), now_ms).states


def watch(definitions: Definitions, store: MetricStore, start_ms: int, end_ms: int) -> History:
    """Evaluate every alarm each minute from `start_ms` to `end_ms`, both rounded down to whole minutes.

    All begin with INSUFFICIENT_DATA, as a new alarm does.

    Raises:
        NotCovered, RuleError: an alarm asks for what is not evaluated here.
    """
    watching = _Watch(definitions)
    for at_ms in range(_whole(start_ms), _whole(end_ms) + 1, _MINUTE_MS):
        watching.evaluate(store, at_ms)
    return watching.history()


def _whole(moment_ms: int) -> int:
    return moment_ms - moment_ms % _MINUTE_MS


class _Watch:
    def __init__(self, definitions: Definitions) -> None:
        self._alarms = definitions.metric
        self._composites = Composites(definitions)
        self._states: dict[str, AlarmState] = {}
        self._groups: dict[str, dict[str, State]] = {alarm.name: {} for alarm in self._alarms}
        self._rang: set[tuple[str, str]] = set()
        self._changes: list[Change] = []
        self._notifications: list[Notification] = []
        self._muted: set[tuple[str, Muted]] = set()

    def history(self) -> History:
        return History(
            states=self._states,
            changes=tuple(self._changes),
            notifications=tuple(self._notifications),
            contributors=frozenset(self._rang),
            muted=frozenset(self._muted),
        )

    def evaluate(self, store: MetricStore, at_ms: int) -> None:
        for alarm in self._alarms:
            self._evaluate(alarm, store, at_ms)
        states = {name: each.state for name, each in self._states.items()}
        for turn in self._composites.evaluate(states, at_ms):
            self._take(turn, at_ms)

    def _evaluate(self, alarm: MetricAlarm, store: MetricStore, at_ms: int) -> None:
        before = self._groups[alarm.name]
        now = _groups(alarm, store, at_ms, before)
        self._groups[alarm.name] = now
        for label in sorted(set(before) | set(now)):
            self._tell(alarm, label, before.get(label), now.get(label, "OK"), at_ms)
        ringing = tuple(label for label, state in now.items() if label and state == "ALARM")
        self._rang |= {(alarm.name, label) for label in ringing}
        self._note(alarm.name, _of_all(now), ringing, at_ms)

    def _tell(self, alarm: MetricAlarm, label: str, before: State | None, state: State, at_ms: int) -> None:
        # A group that is new and fine is no news; an alarm that is new and fine says so once (OKActions).
        if state == before or (label != ONLY and "ALARM" not in (state, before)):
            return
        topics = {"ALARM": alarm.alarm_actions, "OK": alarm.ok_actions}.get(state, ())
        if topics:
            self._notifications.append(Notification(at_ms, alarm.name, state, topics, label))

    def _take(self, turn: Turn, at_ms: int) -> None:
        alarm = turn.alarm
        self._note(alarm.name, turn.state, (), at_ms, turn.muted)
        topics = alarm.alarm_actions if turn.state == "ALARM" else alarm.ok_actions
        if turn.muted is not None:
            self._muted.add((alarm.name, turn.muted))
        elif turn.tells and topics:
            self._notifications.append(Notification(at_ms, alarm.name, turn.state, topics))

    def _note(
        self, name: str, state: State, contributors: tuple[str, ...], at_ms: int, muted: Muted | None = None
    ) -> None:
        known = self._states.get(name)
        before: State = "INSUFFICIENT_DATA" if known is None else known.state
        if state != before:
            self._changes.append(Change(at_ms, name, before, state))
        since_ms = known.since_ms if known is not None and state == before else at_ms
        self._states[name] = AlarmState(state, contributors, since_ms, muted)


def _groups(
    alarm: MetricAlarm, store: MetricStore, at_ms: int, before: Mapping[str, State]
) -> dict[str, State]:
    """The state of each contributor.

    A group that the query no longer returns is over, whatever is said of missing data (CloudWatch's guide,
    "Missing data in CloudWatch Metrics Insights alarms"); of a query that returns nothing, all is missing.
    """
    found = series_of(alarm, store, at_ms) or {ONLY: (None,) * range_periods(alarm)}
    return {
        label: decide(alarm, points, before.get(label, "INSUFFICIENT_DATA"))
        for label, points in sorted(found.items())
    }


def _of_all(groups: Mapping[str, State]) -> State:
    states = set(groups.values())
    return "ALARM" if "ALARM" in states else "OK" if "OK" in states else "INSUFFICIENT_DATA"
