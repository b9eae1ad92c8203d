"""Metrics Insights: `SELECT AVG(Failed) FROM SCHEMA("Onceward", Service, TenantId) WHERE ... GROUP BY ...`.

What is evaluated: the five functions; `FROM SCHEMA(...)` and `FROM "namespace"`; WHERE with `=`, `!=` and AND
(there is no OR: CloudWatch's guide, "Supported operators"); GROUP BY; ORDER BY; LIMIT. Not evaluated: tags.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ops.observing.lines import Line, QueryError, Window
from ops.observing.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.observing.series import SeriesName

_STATISTICS: Final = {
    "AVG": "Average",
    "COUNT": "SampleCount",
    "MAX": "Maximum",
    "MIN": "Minimum",
    "SUM": "Sum",
}
# "A query can return up to 500 time series" (CloudWatch's guide, Metrics Insights' limits).
_MOST_SERIES: Final = 500
_BARE: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Selection:
    """A parsed query.

    Attributes:
        statistic: CloudWatch's name of the function.
        schema: the exact set of dimensions that a series must have; None: any.
        group_by: the dimensions that tell the groups apart; none: all is one group.
        order: the statistic by which the groups are ordered, and whether the greatest comes first.
        limit: how many groups, at most.
    """

    statistic: str
    metric: str
    namespace: str
    schema: frozenset[str] | None
    where: Callable[[Mapping[str, str]], bool]
    group_by: tuple[str, ...]
    order: tuple[str, bool] | None
    limit: int


def is_insights(expression: str) -> bool:
    """Whether an expression is such a query, and no maths."""
    return expression.lstrip()[:6].upper() == "SELECT"


def select(expression: str, window: Window) -> tuple[Line, ...]:
    """The lines of a query: one a group that has data. Raises QueryError."""
    return _run(parse(expression), window)


# An alarm's query is evaluated again for each minute that is looked at: a stage has a few dozen of them.
@lru_cache(maxsize=256)
def parse(expression: str) -> Selection:
    """Raises QueryError."""
    tokens = Tokens(expression)
    tokens.expect("SELECT")
    statistic = _STATISTICS[tokens.expect(*_STATISTICS)]
    tokens.expect("(")
    metric = _name(tokens)
    tokens.expect(")")
    tokens.expect("FROM")
    namespace, schema = _source(tokens)
    where = _all_of(tokens) if tokens.accept("WHERE") else _any
    group_by = _names(tokens) if _accept_by(tokens, "GROUP") else ()
    order = _order(tokens) if _accept_by(tokens, "ORDER") else None
    limit = int(tokens.expect_kind("number").value) if tokens.accept("LIMIT") else _MOST_SERIES
    tokens.expect_end()
    return Selection(statistic, metric, namespace, schema, where, group_by, order, limit)


def _run(query: Selection, window: Window) -> tuple[Line, ...]:
    groups: defaultdict[tuple[str, ...], list[SeriesName]] = defaultdict(list)
    for series in window.store.names(query.namespace, query.metric):
        dimensions = dict(series.dimensions)
        fits = query.schema is None or query.schema == dimensions.keys()
        # A series that lacks what is grouped by is in no group.
        if fits and query.where(dimensions) and all(name in dimensions for name in query.group_by):
            groups[tuple(dimensions[name] for name in query.group_by)].append(series)
    found = []
    for values, several in groups.items():
        line = _line(query, window, values, several)
        if line.points:
            found.append((_weight(query, window, several), line))
    if query.order is not None:
        found.sort(key=lambda one: one[0], reverse=query.order[1])
    return tuple(line for _, line in found[: min(query.limit, _MOST_SERIES)])


def _line(query: Selection, window: Window, values: tuple[str, ...], several: list[SeriesName]) -> Line:
    points = window.store.read_together(
        several, query.statistic, window.period_seconds, window.start_ms, window.end_ms
    )
    return Line(
        id=None,
        label=" ".join(values) or f"{query.statistic} {query.metric}",
        unit=window.store.unit(several[0]),
        points=tuple(points),
        contributor=tuple(zip(query.group_by, values, strict=True)),
        origin=window.store.origin(several[0]),
        metric=query.metric,
    )


def _weight(query: Selection, window: Window, several: list[SeriesName]) -> float:
    """What the groups are ordered by: the statistic over the whole window."""
    if query.order is None:
        return 0.0
    seconds = max(1, -(-(window.end_ms - window.start_ms) // 1000))
    whole = window.store.read_together(several, query.order[0], seconds, window.start_ms, window.end_ms)
    return whole[0][1] if whole else 0.0


def _source(tokens: Tokens) -> tuple[str, frozenset[str] | None]:
    if not tokens.accept("SCHEMA"):
        return _name(tokens), None
    tokens.expect("(")
    namespace, *dimensions = _names(tokens)
    tokens.expect(")")
    return namespace, frozenset(dimensions)


def _all_of(tokens: Tokens) -> Callable[[Mapping[str, str]], bool]:
    conditions = [_condition(tokens)]
    while tokens.accept("AND"):
        conditions.append(_condition(tokens))
    return lambda dimensions: all(one(dimensions) for one in conditions)


def _condition(tokens: Tokens) -> Callable[[Mapping[str, str]], bool]:
    key = _name(tokens)
    equal = tokens.expect("=", "!=") == "="
    token = tokens.expect_kind("text")
    if token.quote != "'":
        raise QueryError(f"{token.value!r}: a value is in single quotes (double ones are for names)")
    value = token.value
    # A series without the dimension fits neither: there is nothing to compare.
    return lambda dimensions: key in dimensions and (dimensions[key] == value) is equal


def _any(_dimensions: Mapping[str, str]) -> bool:
    return True


def _accept_by(tokens: Tokens, word: str) -> bool:
    if not tokens.accept(word):
        return False
    tokens.expect("BY")
    return True


def _order(tokens: Tokens) -> tuple[str, bool]:
    statistic = _STATISTICS[tokens.expect(*_STATISTICS)]
    tokens.expect("(")
    tokens.expect(")")
    return statistic, tokens.accept("ASC", "DESC") == "DESC"


def _names(tokens: Tokens) -> tuple[str, ...]:
    names = [_name(tokens)]
    while tokens.accept(","):
        names.append(_name(tokens))
    return tuple(names)


def _name(tokens: Tokens) -> str:
    token = tokens.expect_kind("word", "text")
    if token.quote == "'":
        raise QueryError(f"{token.value!r}: a name is bare, or in double quotes (single ones are for values)")
    if not token.quote and not _BARE.fullmatch(token.value):
        raise QueryError(f"{token.value!r}: a name of more than letters, digits and _ is in double quotes")
    return token.value
