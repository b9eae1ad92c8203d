"""The kinds of widgets: text, the state of alarms, graphs and single numbers, and their properties.

The structure is that of CloudWatch's API reference, "Dashboard Body Structure and Syntax", which lists more.
"""

from dataclasses import dataclass
from typing import Final

from infra.widget_rows import Line, Maths, Row

GRID_WIDTH: Final = 24
MINUTE: Final = 60
# CloudWatch's most in one widget (API reference, "Properties of an Alarm Status Widget Object").
_MOST_ALARMS: Final = 100
# A colour that no line of ours has.
_ALARM_COLOUR: Final = "#cc0000"


@dataclass(frozen=True)
class Threshold:
    """Where an alarm rings: a horizontal line."""

    label: str
    value: float
    right: bool = False


@dataclass(frozen=True)
class Text:
    """Markdown: headings, lists, links, bold and code."""

    markdown: str
    width: int = GRID_WIDTH
    height: int = 2

    def properties(self, _region: str) -> dict[str, object]:
        """The widget's properties."""
        return {"markdown": self.markdown}


@dataclass(frozen=True)
class AlarmStatus:
    """The state of alarms (ARNs), the latest change first. Raises ValueError for more than a hundred."""

    title: str
    alarms: tuple[str, ...]
    width: int
    height: int
    only_ringing: bool = False

    def __post_init__(self) -> None:
        if len(self.alarms) > _MOST_ALARMS:
            raise ValueError(f"widget {self.title!r}: {len(self.alarms)} alarms, {_MOST_ALARMS} at most")

    def properties(self, _region: str) -> dict[str, object]:
        """The widget's properties."""
        states = {"states": ["ALARM"]} if self.only_ringing else {}
        return {
            "title": self.title,
            "alarms": list(self.alarms),
            "sortBy": "stateUpdatedTimestamp",
            **states,
        }


@dataclass(frozen=True)
class Graph:
    """Lines over time. `unit` and `right_unit` label the axes; `{period}` in them becomes what it is called.

    No row has a period of its own: one a graph, so that lines and thresholds are about the same.
    """

    title: str
    unit: str
    rows: tuple[Row, ...]
    right_unit: str | None = None
    stacked: bool = False
    width: int = 8
    height: int = 6
    period_seconds: int = MINUTE
    thresholds: tuple[Threshold, ...] = ()

    def properties(self, region: str) -> dict[str, object]:
        """The widget's properties."""
        axes = {"left": _axis(self.unit, self.period_seconds)}
        if self.right_unit is not None:
            axes["right"] = _axis(self.right_unit, self.period_seconds)
        lines = [_annotation(each) for each in self.thresholds]
        return {
            "title": self.title,
            "region": region,
            "view": "timeSeries",
            "stacked": self.stacked,
            "period": self.period_seconds,
            "metrics": [row.row(self.period_seconds) for row in self.rows],
            "yAxis": axes,
            "legend": {"position": "bottom"},
            **({"annotations": {"horizontal": lines}} if lines else {}),
        }


@dataclass(frozen=True)
class Number:
    """One number: of the latest period, or (`whole_range`) of all the time that the dashboard shows."""

    title: str
    unit: str
    rows: tuple[Line | Maths, ...]
    whole_range: bool = False
    width: int = 4
    height: int = 4

    def properties(self, region: str) -> dict[str, object]:
        """The widget's properties."""
        whole = {"setPeriodToTimeRange": True} if self.whole_range else {}
        return {
            "title": self.title,
            "region": region,
            "view": "singleValue",
            "period": MINUTE,
            "metrics": [row.row(MINUTE) for row in self.rows],
            "yAxis": {"left": _axis(self.unit, MINUTE)},
            **whole,
        }


Widget = Text | AlarmStatus | Graph | Number


def _axis(unit: str, period_seconds: int) -> dict[str, object]:
    # From zero: an axis that begins elsewhere makes a ripple look like a fall. CloudWatch's own unit, such as
    # `Count`, would stand beside ours.
    minutes = period_seconds // MINUTE
    label = unit.format(period="minute" if minutes == 1 else f"{minutes} minutes")
    return {"label": label, "min": 0, "showUnits": False}


def _annotation(threshold: Threshold) -> dict[str, object]:
    axis = {"yAxis": "right"} if threshold.right else {}
    return {"label": threshold.label, "value": threshold.value, "color": _ALARM_COLOUR, **axis}
