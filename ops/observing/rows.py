"""What a query asks for, whether a dashboard's row says it or the API's structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ops.observing.lines import QueryError, YAxis
from ops.observing.series import SeriesName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ALL_BEFORE: Final = "..."
_SAME: Final = "."


@dataclass(frozen=True, slots=True)
class Query:
    """One row: of a metric (`metric`, `statistic`) or of an expression. See `Line` for the others."""

    id: str | None
    metric: SeriesName | None
    statistic: str
    expression: str
    label: str | None = None
    visible: bool = True
    y_axis: YAxis = "left"
    color: str | None = None


def of_rows(rows: Sequence[Sequence[object]], statistic: str) -> list[Query]:
    """A widget's `metrics`. `statistic`: the widget's own. Raises QueryError for a row that says nothing."""
    queries: list[Query] = []
    before: list[str] = []
    for row in rows:
        names, options = _parted(row)
        if names:
            before = _whole(names, before, row)
        queries.append(_of_row(before if names else [], options, row, statistic))
    return queries


def of_api(queries: Sequence[Mapping[str, Any]]) -> list[Query]:
    """The `Metrics` of an alarm, or the `MetricDataQueries` of GetMetricData. Raises QueryError."""
    return [_of_api(query) for query in queries]


def _parted(row: Sequence[object]) -> tuple[list[str], Mapping[str, Any]]:
    *names, last = row or [None]
    options: Mapping[str, Any] = last if isinstance(last, dict) else {}
    words = [*names, *([] if isinstance(last, dict) else [last])]
    if not all(isinstance(word, str) for word in words):
        raise QueryError(f"{row!r}: a row is names, and options at its end")
    return [str(word) for word in words], options


def _whole(names: list[str], before: list[str], row: Sequence[object]) -> list[str]:
    """The names without CloudWatch's shorthand for what is as in the row before."""
    if names[0] == _ALL_BEFORE:
        rest = names[1:]
        names = before[: len(before) - len(rest)] + rest
    whole = [
        before[place] if name == _SAME and place < len(before) else name for place, name in enumerate(names)
    ]
    if _SAME in whole or len(whole) < 2 or len(whole) % 2:
        raise QueryError(f"{row!r}: must be a namespace, a name, and pairs of a dimension and its value")
    return whole


def _of_row(names: list[str], options: Mapping[str, Any], row: Sequence[object], statistic: str) -> Query:
    expression = options.get("expression", "")
    if not names and not expression:
        raise QueryError(f"{row!r}: neither a metric nor an expression")
    metric = None
    if names:
        dimensions = dict(zip(names[2::2], names[3::2], strict=True))
        metric = SeriesName.of(names[0], names[1], dimensions)
    return Query(
        id=options.get("id"),
        metric=metric,
        statistic=options.get("stat", statistic),
        expression=expression,
        label=options.get("label"),
        visible=options.get("visible", True),
        y_axis=options.get("yAxis", "left"),
        color=options.get("color"),
    )


def _of_api(query: Mapping[str, Any]) -> Query:
    stat: Mapping[str, Any] = query.get("MetricStat") or {}
    if not stat and not query.get("Expression"):
        raise QueryError(f"{query!r}: neither a metric nor an expression")
    metric: Mapping[str, Any] = stat.get("Metric", {})
    dimensions = {each["Name"]: each["Value"] for each in metric.get("Dimensions", [])}
    return Query(
        id=query.get("Id"),
        metric=SeriesName.of(metric["Namespace"], metric["MetricName"], dimensions) if stat else None,
        statistic=stat.get("Stat", "Average"),
        expression=query.get("Expression") or "",
        label=query.get("Label"),
        visible=query.get("ReturnData", True),
    )
