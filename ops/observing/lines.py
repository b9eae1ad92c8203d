"""What a query gives: lines of points, over a window of time. Pure over a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ops.observing.series import Unit
    from ops.observing.store import MetricStore

YAxis = Literal["left", "right"]

Dimensions = tuple[tuple[str, str], ...]
"""Names and values, in order of the names."""


class QueryError(ValueError):
    """A query that CloudWatch would refuse, or that is beyond what is evaluated here (`ops.observing`)."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a graph.

    Attributes:
        id: as the query has it; None where it has none.
        label: for people.
        unit: of the metric; None of a result of maths.
        points: (start of the period in ms, value), in order, only periods that have a value.
        visible: False where the query only feeds another.
        y_axis: which axis it belongs to.
        color: as the query has it (`#rrggbb`).
        contributor: a metric's own dimensions; of a group, those that it is grouped by.
        origin: as of `MetricStore.origin`; None of a result of maths.
        metric: the name of the metric; None of a result of maths.
    """

    id: str | None
    label: str
    unit: Unit | None
    points: tuple[tuple[int, float], ...]
    visible: bool = True
    y_axis: YAxis = "left"
    color: str | None = None
    contributor: Dimensions = ()
    origin: str | None = None
    metric: str | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Which metrics, from when to when (ms since the epoch, the end exclusive), in which periods."""

    store: MetricStore
    period_seconds: int
    start_ms: int
    end_ms: int

    def starts(self) -> range:
        """When each period begins."""
        return range(self.start_ms, self.end_ms, self.period_seconds * 1000)
