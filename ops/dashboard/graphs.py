"""A metric widget as what the page draws: lines with colours and units, axes, alarm lines. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from ops.dashboard import windows
from ops.observing.queries import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.dashboard.body import Widget
    from ops.dashboard.windows import Window
    from ops.observing.queries import Line
    from ops.observing.store import MetricStore

Drawn = dict[str, Any]
"""JSON that the page draws; its shape is what `graph` says."""

# Okabe and Ito's palette without its black and its yellow (which a white page swallows), and a purple and a
# grey: told apart with every common kind of colour blindness.
PALETTE: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6a51a3", "#7f7f7f")

ALARM_COLOR: Final = "#c62828"
"""Of an alarm line that has no colour of its own."""

_WRITTEN_PERIOD: Final = 300
"""A widget's period in seconds when it says none (AWS's default)."""

_VIEWS: Final = {"timeSeries": "lines", "singleValue": "numbers", "bar": "bars", "table": "table"}
# Those of one value a line: of the newest period, or of the whole stretch of time when the widget says so.
_ONE_VALUE: Final = ("numbers", "bars", "table")

# Statistics that grow with the length of the period: an alarm line drawn for 60 s is wrong at 10 s.
_COUNTING: Final = ("Sum", "SampleCount")
_PER_PERIOD: Final = re.compile(r"\bper (?:\d+ )?(?:minutes?|hours?|seconds?|s|min|h)\b")
_COUNTING_TEXT: Final = re.compile(r"'(?:Sum|SampleCount)'|\b(?:SUM|COUNT)\s*\(")


def graph(widget: Widget, store: MetricStore, shown: Window, choice: str, *, inherit: bool) -> Drawn:
    """A widget of metrics, drawn.

    Args:
        shown: the page's stretch of time. choice: of `windows.PERIODS`. inherit: see `windows.period`.

    Returns:
        `view` (lines, numbers, bars, table), `stacked`, `period` (s), `written` (s), `lines` (label, color,
        axis, unit, points of [ms, value], origin), `axes` (left, right: label, min, max), `thresholds`
        (label, value, axis, color, fill), `marks` (label, ms, color) and `notes` (what a reader must know).

    Raises ValueError (`ops.observing.queries.QueryError`): a row that cannot be evaluated.
    """
    properties = widget.properties
    view = _VIEWS.get(str(properties.get("view", "timeSeries")), "table")
    written = int(properties.get("period", _WRITTEN_PERIOD))
    if written < 1:
        raise ValueError(f"period {written}: must be at least one second")
    whole = view in _ONE_VALUE and bool(properties.get("setPeriodToTimeRange"))
    seconds = shown.seconds if whole else windows.period(choice, written, shown, inherit=inherit)
    stretch = shown if whole else windows.aligned(shown, seconds)
    rows, statistic = properties.get("metrics", []), str(properties.get("stat", "Average"))
    lines = evaluate(rows, store, seconds, stretch.start_ms, stretch.end_ms, statistic=statistic)
    thresholds, notes = _thresholds(properties, seconds, written, counting=_counting(rows, statistic))
    return {
        "view": view,
        "stacked": bool(properties.get("stacked")),
        "sparkline": bool(properties.get("sparkline")),
        "whole": whole,
        "period": seconds,
        "written": written,
        # The same for every widget; a period that begins before it, or ends after it, is seen in part.
        "start": shown.start_ms,
        "end": shown.end_ms,
        "lines": _lines([line for line in lines if line.visible]),
        "axes": {side: _axis(properties, side, seconds, written) for side in ("left", "right")},
        "thresholds": thresholds,
        "marks": _marks(properties),
        "notes": notes,
    }


def _lines(lines: Sequence[Line]) -> list[Drawn]:
    taken = {(line.color or "").lower() for line in lines}
    free = [color for color in PALETTE if color not in taken] or PALETTE
    plain = {id(line): at for at, line in enumerate(line for line in lines if line.color is None)}
    return [
        {
            "label": line.label,
            "color": line.color or free[plain[id(line)] % len(free)],
            # When there are more lines than colours, these come again, dashed.
            "dashed": plain.get(id(line), 0) >= len(free),
            "axis": line.y_axis,
            "unit": None if line.unit is None else line.unit.value,
            "points": [[at_ms, value] for at_ms, value in line.points if isfinite(value)],
            "origin": line.origin,
        }
        for line in lines
    ]


def _axis(properties: Mapping[str, Any], side: str, seconds: int, written: int) -> Drawn:
    """An axis; where it names the widget's own period and another is drawn, it names that."""
    axis = properties.get("yAxis", {}).get(side, {})
    label = axis.get("label")
    if label is not None and seconds != written:
        label = _PER_PERIOD.sub(f"per {seconds} s", str(label))
    return {"label": label, "min": axis.get("min"), "max": axis.get("max")}


def _thresholds(
    properties: Mapping[str, Any], seconds: int, written: int, *, counting: bool
) -> tuple[list[Drawn], list[str]]:
    """The horizontal annotations, and what to say of those that are left out."""
    drawn: list[Drawn] = []
    notes: list[str] = []
    for each in _flat(properties.get("annotations", {}).get("horizontal", [])):
        if not each.get("visible", True):
            continue
        label = str(each.get("label", "alarm"))
        if counting and seconds != written:
            notes.append(f"Not drawn at {seconds} s periods: {label} ({each['value']:g} per {written} s)")
            continue
        drawn.append(
            {
                "label": label,
                "value": float(each["value"]),
                "axis": str(each.get("yAxis", "left")),
                "color": str(each.get("color", ALARM_COLOR)),
                "fill": each.get("fill"),
            }
        )
    return drawn, notes


def _flat(annotations: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Annotations one by one: a band is written as a list of its two edges."""
    return [one for each in annotations for one in (each if isinstance(each, list) else [each])]


def _marks(properties: Mapping[str, Any]) -> list[Drawn]:
    return [
        {
            "label": str(each.get("label", "")),
            "ms": int(datetime.fromisoformat(str(each["value"])).timestamp() * 1000),
            "color": str(each.get("color", PALETTE[-1])),
        }
        for each in _flat(properties.get("annotations", {}).get("vertical", []))
    ]


def _counting(rows: Sequence[Sequence[Any]], statistic: str) -> bool:
    """Whether a line of it grows with the length of the periods.

    A share (something divided by something) does not, nor does a percentile or a maximum.
    """
    options = [row[-1] if row and isinstance(row[-1], dict) else {} for row in rows]
    counted = {
        str(each["id"])
        for each in options
        if "id" in each and "expression" not in each and each.get("stat", statistic) in _COUNTING
    }
    shown = [each for each in options if each.get("visible", True)]
    return any(_grows(each, statistic, counted) for each in shown)


def _grows(options: Mapping[str, Any], statistic: str, counted: set[str]) -> bool:
    expression = options.get("expression")
    if expression is None:
        return options.get("stat", statistic) in _COUNTING
    if "/" in _without_quoted(str(expression)):
        return False
    words = set(re.findall(r"\w+", str(expression)))
    return bool(counted & words or _COUNTING_TEXT.search(str(expression)))


def _without_quoted(expression: str) -> str:
    """An expression less what is in quotes: the `/` of a namespace divides nothing."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", expression)
