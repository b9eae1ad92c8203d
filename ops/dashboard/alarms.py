"""The states of a stage's alarms, evaluated from their definitions no oftener than they can change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.dashboard.drawing import AlarmShown
from ops.local.errors import LocalPlatformError
from ops.local.state import State
from ops.observing.alarm_definitions import NotCovered, registered
from ops.observing.alarm_rules import RuleError
from ops.observing.alarm_states import look_back_ms, watch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ops.observing.alarm_definitions import Definitions
    from ops.observing.store import MetricStore

_MINUTE_MS: Final = 60_000
"""Alarms are evaluated once a minute, on AWS and by `watch`."""


class AlarmWatch:
    """Evaluates the alarms of `definitions` (None: none are known). `fault`: why it cannot, or None."""

    def __init__(self, definitions: Definitions | None) -> None:
        self._definitions = definitions
        self._known: Mapping[str, AlarmShown] = {}
        self._minute: int | None = None
        self.fault: str | None = None if definitions else "The alarms of this run were not kept."

    def states(self, store: MetricStore, now_ms: int) -> Mapping[str, AlarmShown]:
        """How each alarm is at `now_ms` (ms since the epoch), by name. Evaluated anew once a minute.

        Of the minute that goes on it is what there is by now.
        """
        minute, span = now_ms // _MINUTE_MS + 1, store.span()
        if self._definitions is None or span is None or minute == self._minute:
            return self._known
        try:
            self._known = _watched(self._definitions, store, span[0], now_ms)
            self.fault = None
        except (NotCovered, RuleError, ValueError) as error:
            self.fault = f"The alarms cannot be evaluated here: {error}"
        self._minute = minute
        return self._known


class RegisteredAlarms:
    """The alarms that a home's platform has now: those of its last update, however long one looks.

    Raises LocalPlatformError, ValueError: what is registered cannot be read. Later that is a `fault`, and the
    alarms are those of before; they are too when the platform has gone down, and nothing is registered.
    """

    def __init__(self, home: Path) -> None:
        self._file = home / "state.json"
        self._read_ns = self._changed_ns()
        self._watch = self._read()
        self._old: str | None = None

    @property
    def fault(self) -> str | None:
        """Why the states are not those of the alarms that there are, or None."""
        return self._old or self._watch.fault

    def states(self, store: MetricStore, now_ms: int) -> Mapping[str, AlarmShown]:
        """As `AlarmWatch.states`."""
        changed_ns = self._changed_ns()
        if changed_ns is not None and changed_ns != self._read_ns:
            try:
                self._watch, self._old = self._read(), None
                self._read_ns = changed_ns
            except (LocalPlatformError, OSError, LookupError, TypeError, ValueError) as error:
                self._old = f"The alarms are those of before the last update: {error}"
        return self._watch.states(store, now_ms)

    def _changed_ns(self) -> int | None:
        try:
            return self._file.stat().st_mtime_ns
        except FileNotFoundError:
            return None

    def _read(self) -> AlarmWatch:
        return AlarmWatch(registered(State(self._file).present()))


def _watched(
    definitions: Definitions, store: MetricStore, first_ms: int, now_ms: int
) -> Mapping[str, AlarmShown]:
    end_ms = (now_ms // _MINUTE_MS + 1) * _MINUTE_MS
    history = watch(definitions, store, max(first_ms, end_ms - look_back_ms(definitions)), end_ms)
    descriptions = {each.name: each.description for each in definitions.metric}
    descriptions |= {each.name: each.description for each in definitions.composite}
    rang = history.rang()
    return {
        name: AlarmShown(
            name=name,
            state=each.state,
            description=descriptions[name],
            muted=each.muted is not None,
            contributors=each.contributors,
            # What changed in the minute that goes on was evaluated at its end, which is still to come.
            changed_ms=min(each.since_ms, now_ms) if name in rang else None,
        )
        for name, each in history.states.items()
    }
