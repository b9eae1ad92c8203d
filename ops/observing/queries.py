"""Evaluates the queries of dashboards and alarms over a store: what CloudWatch would draw, or judge.

This is the one entry: it takes a widget's rows, or the API's queries, and gives lines. What is evaluated is
said in `ops.observing.expressions`, `insights` and `search`; all else is refused, never guessed at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ops.observing import insights
from ops.observing.expressions import Scope, Value
from ops.observing.expressions import evaluate as evaluate_expression
from ops.observing.labels import labelled, told_apart
from ops.observing.lines import Line, QueryError, Window
from ops.observing.rows import Query, of_api, of_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.observing.store import MetricStore

__all__ = ["Line", "QueryError", "evaluate", "evaluate_queries", "period_of"]

_MINUTE = 60


def evaluate(
    rows: Sequence[Sequence[object]],
    store: MetricStore,
    period_seconds: int,
    start_ms: int,
    end_ms: int,
    *,
    statistic: str = "Average",
) -> list[Line]:
    """The lines of a dashboard's widget, those that are not to be shown too (`visible` is False).

    A metric without data is a line without points; a SEARCH or a GROUP BY makes a line for each series.
    What is a number is no line: it can only feed another.

    Args:
        rows: the `metrics` of a widget's properties.
        period_seconds: of all of them, whatever period a row says.
        start_ms, end_ms: from when to when (exclusive), ms since the epoch, taken down to a whole second.
        statistic: the `stat` of a widget's properties, for the rows that say none.

    Raises:
        QueryError: a row that CloudWatch would refuse, or that is not evaluated here.
    """
    window = Window(store, period_seconds, _second(start_ms), _second(end_ms))
    return _Graph(of_rows(rows, statistic), window, statistic).lines()


def evaluate_queries(
    queries: Sequence[Mapping[str, Any]],
    store: MetricStore,
    period_seconds: int,
    start_ms: int,
    end_ms: int,
) -> list[Line]:
    """As `evaluate`, of queries as an alarm's `Metrics` or GetMetricData has them (AWS's field names).

    `visible` is what they call ReturnData.
    """
    window = Window(store, period_seconds, _second(start_ms), _second(end_ms))
    return _Graph(of_api(queries), window, "Average").lines()


def period_of(queries: Sequence[Mapping[str, Any]]) -> int:
    """The period of such queries, in seconds: the longest that one of them says, else a minute."""
    said = [query.get("Period") or (query.get("MetricStat") or {}).get("Period") for query in queries]
    return max((period for period in said if period), default=_MINUTE)


def _second(at_ms: int) -> int:
    return at_ms // 1000 * 1000


class _Graph:
    """The queries of one widget or alarm, each worked out once."""

    def __init__(self, queries: Sequence[Query], window: Window, statistic: str) -> None:
        self._queries = queries
        self._by_id = {query.id: query for query in queries if query.id is not None}
        self._window = window
        self._scope = Scope(window, self._resolve, self._metrics, statistic)
        self._values: dict[str, Value] = {}
        self._open: list[str] = []

    def lines(self) -> list[Line]:
        return told_apart([line for query in self._queries for line in self._finished(query)])

    def _finished(self, query: Query) -> list[Line]:
        value = self._resolve(query.id) if query.id is not None else self._value(query)
        if isinstance(value, float):
            if not query.visible:
                return []  # it feeds another: nobody draws it
            raise QueryError(f"{query.expression!r}: is a number, not a series")
        several = isinstance(value, tuple)
        lines = value if isinstance(value, tuple) else (value,)
        return [_asked(labelled(query.label, _named(line, query), several=several), query) for line in lines]

    def _resolve(self, name: str) -> Value:
        if name not in self._by_id:
            raise QueryError(f"{name!r}: no query has this id")
        if name in self._open:
            raise QueryError(f"{name!r}: is made of itself: {' -> '.join((*self._open, name))}")
        if name not in self._values:
            self._open.append(name)
            try:
                self._values[name] = self._value(self._by_id[name])
            finally:
                self._open.pop()
        return self._values[name]

    def _metrics(self) -> Mapping[str, Line]:
        named = ((name, self._resolve(name)) for name, query in self._by_id.items() if query.metric)
        return {name: value for name, value in named if isinstance(value, Line)}

    def _value(self, query: Query) -> Value:
        if query.metric is not None:
            return self._read(query)
        if insights.is_insights(query.expression):
            return insights.select(query.expression, self._window)
        return evaluate_expression(query.expression, self._scope)

    def _read(self, query: Query) -> Line:
        window, metric = self._window, query.metric
        assert metric is not None
        try:
            points = window.store.read(
                metric, query.statistic, window.period_seconds, window.start_ms, window.end_ms
            )
        except ValueError as error:
            raise QueryError(f"{metric.name}: {error}") from error
        return Line(
            id=query.id,
            label=metric.name,
            unit=window.store.unit(metric),
            points=tuple(points),
            contributor=metric.dimensions,
            origin=window.store.origin(metric),
            metric=metric.name,
        )


def _asked(line: Line, query: Query) -> Line:
    """The line where and how the query wants it drawn."""
    return replace(line, id=query.id, visible=query.visible, y_axis=query.y_axis, color=query.color)


def _named(line: Line, query: Query) -> Line:
    """A result of maths is called by its id, or by what it is."""
    return line if line.label else replace(line, label=query.id or query.expression)
