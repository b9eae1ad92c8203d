"""What a graph draws: the rows of a widget's `metrics`, in CloudWatch's format of them."""

from dataclasses import dataclass

from infra.expressions import Search
from infra.metrics import Metric


@dataclass(frozen=True)
class Line:
    """One metric. `id`: how maths names it; `hidden`: only maths needs it; `right`: on the right axis."""

    metric: Metric
    label: str
    id: str | None = None
    hidden: bool = False
    right: bool = False
    colour: str | None = None

    def row(self, _period_seconds: int) -> list[object]:
        """The row of a widget's `metrics`."""
        dimensions = [part for pair in self.metric.dimensions for part in pair]
        options = _options(
            self.label, named=self.id, right=self.right, hidden=self.hidden, colour=self.colour
        )
        return [
            self.metric.namespace,
            self.metric.name,
            *dimensions,
            {**options, "stat": self.metric.statistic},
        ]


@dataclass(frozen=True)
class Maths:
    """What is reckoned from other rows, by their ids; `sum_of`: the metrics that it is the mere sum of."""

    expression: str
    label: str
    right: bool = False
    colour: str | None = None
    sum_of: tuple[Metric, ...] = ()

    def row(self, _period_seconds: int) -> list[object]:
        """The row of a widget's `metrics`."""
        options = _options(self.label, right=self.right, colour=self.colour)
        return [{**options, "expression": self.expression}]


@dataclass(frozen=True)
class Found:
    """One line for each metric that a search finds; the label may hold `${PROP('Dim.Operation')}`."""

    search: Search
    statistic: str
    label: str
    right: bool = False

    def row(self, period_seconds: int) -> list[object]:
        """The row of a widget's `metrics`."""
        expression = self.search.expression(self.statistic, period_seconds)
        return [{**_options(self.label, right=self.right), "expression": expression}]


@dataclass(frozen=True)
class Ranked:
    """One line for each group of a Metrics Insights query, called after the group; one such row a widget."""

    query: str

    def row(self, _period_seconds: int) -> list[object]:
        """The row of a widget's `metrics`."""
        return [{"expression": self.query}]


Row = Line | Maths | Found | Ranked


def _options(
    label: str,
    *,
    named: str | None = None,
    right: bool = False,
    hidden: bool = False,
    colour: str | None = None,
) -> dict[str, object]:
    options: dict[str, object] = {"label": label}
    if named is not None:
        options["id"] = named
    if right:
        options["yAxis"] = "right"
    if hidden:
        options["visible"] = False
    if colour is not None:
        options["color"] = colour
    return options
