"""A whole dashboard as JSON that the page draws. Pure over a store and the states of alarms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ops.dashboard import windows
from ops.dashboard.body import parse
from ops.dashboard.graphs import graph
from ops.dashboard.markdown import render
from ops.dashboard.variables import applied
from ops.dashboard.variables import read as read_variables
from ops.observing.store import BrokenMetrics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.dashboard.body import Body, Widget
    from ops.dashboard.variables import Variable
    from ops.dashboard.windows import Window
    from ops.observing.store import MetricStore


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reader chose. Raises ValueError for a range or a way to choose periods that there is not."""

    range: str | None = None
    """Of `windows.RANGES`; None: what has just been on a platform that runs, all of a run that is over."""
    period: str = windows.DEFAULT_PERIOD
    values: Mapping[str, str] = field(default_factory=dict)
    """Of the dashboard's variables, by id."""

    def __post_init__(self) -> None:
        for name, value, there in (
            ("range", self.range, (None, *windows.RANGES)),
            ("period", self.period, windows.PERIODS),
        ):
            if value not in there:
                raise ValueError(f"{name}: {value!r}; there are {', '.join(filter(None, there))}")


@dataclass(frozen=True, slots=True)
class AlarmShown:
    """One alarm as an operator sees it.

    Attributes:
        state: OK, ALARM or INSUFFICIENT_DATA.
        muted: another alarm kept it from telling.
        contributors: for whom it rings, of an alarm on all tenants.
        changed_ms: since when it rings, or has stopped to ring; None of one that has not rung lately.
    """

    name: str
    state: str
    description: str
    muted: bool = False
    contributors: tuple[str, ...] = ()
    changed_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a dashboard is drawn of, at one moment.

    Attributes:
        store: the metrics.
        alarms: by name, as `names_of` makes it of an ARN.
        now_ms: where ranges end; None for a run that is over (they end with its last point).
    """

    store: MetricStore
    alarms: Mapping[str, AlarmShown]
    now_ms: int | None


_STATE_WORDS: Final = {"OK": "OK", "ALARM": "In alarm", "INSUFFICIENT_DATA": "No data"}


def draw(text: str, seen: Seen, asked: Asked) -> dict[str, Any]:
    """A dashboard drawn: `start`, `end` (ms), `variables`, `widgets` in the order of the body.

    A widget that cannot be drawn says why in its place, and the others are drawn. Raises BodyError for a text
    that is no dashboard, BrokenMetrics.
    """
    stretch = asked.range or (windows.DEFAULT_RANGE if seen.now_ms is not None else windows.WHOLE)
    shown = windows.window(stretch, seen.store.span(), seen.now_ms)
    variables = read_variables(parse(text).variables, seen.store, asked.values)
    body = parse(applied(text, variables))
    return {
        "start": shown.start_ms,
        "end": shown.end_ms,
        "range": stretch,
        "period": asked.period,
        "variables": [_variable(each) for each in variables],
        "widgets": [_widget(each, body, seen, shown, asked) for each in body.widgets],
    }


def _variable(variable: Variable) -> dict[str, Any]:
    return {
        "id": variable.id,
        "label": variable.label,
        "form": variable.form,
        "choices": [{"value": value, "label": label} for value, label in variable.choices],
        "value": variable.value,
    }


def _widget(widget: Widget, body: Body, seen: Seen, shown: Window, asked: Asked) -> dict[str, Any]:
    place, properties = widget.place, widget.properties
    drawn = {
        "kind": widget.kind,
        "title": str(properties.get("title", "")),
        "place": {"x": place.x, "y": place.y, "width": place.width, "height": place.height},
    }
    try:
        if widget.kind == "metric":
            return drawn | graph(widget, seen.store, shown, asked.period, inherit=body.inherit)
        if widget.kind == "text":
            return drawn | {"html": render(str(properties.get("markdown", "")))}
        if widget.kind == "alarm":
            return drawn | {
                "alarms": [_alarm(each, seen.alarms) for each in properties.get("alarms", ())],
                "states": list(properties.get("states", ())),
            }
    except BrokenMetrics:  # no fault of the widget's: it is all of them
        raise
    except Exception as error:  # noqa: BLE001 - whatever is odd about one widget, the others are drawn
        return drawn | {"kind": "fault", "fault": f"This widget cannot be drawn: {_told(error)}"}
    return drawn | {"kind": "fault", "fault": f"Widgets of the kind {widget.kind!r} are not drawn here."}


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def name_of(alarm: str) -> str:
    """An alarm's name, of its ARN or of itself."""
    return alarm.partition(":alarm:")[2] or alarm


def _alarm(alarm: str, alarms: Mapping[str, AlarmShown]) -> dict[str, Any]:
    name = name_of(alarm)
    known = alarms.get(name)
    if known is None:
        known, word = AlarmShown(name, "UNKNOWN", ""), "Not known here"
    else:
        word = _STATE_WORDS[known.state]
    return {
        "name": name,
        "state": known.state,
        "word": word,
        "description": known.description,
        "muted": known.muted,
        "contributors": list(known.contributors),
        "changed": known.changed_ms,
    }
