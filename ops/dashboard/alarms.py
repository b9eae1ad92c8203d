"""The states of a stage's alarms, evaluated from their definitions no oftener than they can change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.dashboard.drawing import AlarmShown
from ops.observing.alarm_definitions import NotCovered
from ops.observing.alarm_rules import RuleError
from ops.observing.alarm_states import look_back_ms, watch

if TYPE_CHECKING:
    from collections.abc import Mapping

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
            self._known = _watched(self._definitions, store, span[0], minute * _MINUTE_MS)
            self.fault = None
        except (NotCovered, RuleError, ValueError) as error:
            self.fault = f"The alarms cannot be evaluated here: {error}"
        self._minute = minute
        return self._known


def _watched(
    definitions: Definitions, store: MetricStore, first_ms: int, end_ms: int
) -> Mapping[str, AlarmShown]:
    history = watch(definitions, store, max(first_ms, end_ms - look_back_ms(definitions)), end_ms)
    descriptions = {each.name: each.description for each in definitions.metric}
    descriptions |= {each.name: each.description for each in definitions.composite}
    muted, rang = {name for name, _ in history.muted}, history.rang()
    return {
        name: AlarmShown(
            name=name,
            state=each.state,
            description=descriptions[name],
            muted=name in muted,
            contributors=each.contributors,
            changed_ms=each.since_ms if name in rang else None,
        )
        for name, each in history.states.items()
    }
