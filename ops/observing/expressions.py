"""Metric maths over lines: `100 * failed / FILL(asked, 0)`, `SUM(METRICS())`, `SUM(SEARCH('...', 'Sum'))`.

What is evaluated: + - * / and comparisons, numbers, parentheses, ids, `[a, b]`, METRICS, FILL with a number,
SUM AVG MIN MAX, IF, PERIOD, SEARCH. Anything else is refused.
A value that is missing, or divided by zero, makes a result that is missing.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ops.observing.lines import Line, QueryError, Window
from ops.observing.search import search
from ops.observing.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Value = float | Line | tuple[Line, ...]
"""A number, a series, or an array of series. A number that cannot be told is NaN."""


def _quotient(dividend: float, divisor: float) -> float:
    return dividend / divisor if divisor else math.nan


_OPERATORS: Final[Mapping[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "<": lambda one, other: float(one < other),
    "<=": lambda one, other: float(one <= other),
    ">": lambda one, other: float(one > other),
    ">=": lambda one, other: float(one >= other),
    "==": lambda one, other: float(one == other),
    "!=": lambda one, other: float(one != other),
}
# From what binds least to what binds most.
_LEVELS: Final = (("<", "<=", ">", ">=", "==", "!="), ("+", "-"), ("*", "/"))
_REDUCERS: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "SUM": math.fsum,
    "AVG": lambda values: math.fsum(values) / len(values),
    "MIN": min,
    "MAX": max,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression can speak of.

    Attributes:
        resolve: an id's value (a query of the same graph); raises QueryError for one that there is not.
        metrics: the graph's own metrics, by id, without what is calculated (`METRICS()`).
        statistic: of a SEARCH that names none.
    """

    window: Window
    resolve: Callable[[str], Value]
    metrics: Callable[[], Mapping[str, Line]]
    statistic: str


def evaluate(expression: str, scope: Scope) -> Value:
    """The value of an expression. Raises QueryError for one that is not evaluated here."""
    tokens = Tokens(expression, maths=True)
    value = _level(tokens, scope, 0)
    tokens.expect_end()
    return value


def _level(tokens: Tokens, scope: Scope, level: int) -> Value:
    if level == len(_LEVELS):
        return _factor(tokens, scope)
    value = _level(tokens, scope, level + 1)
    while sign := tokens.accept(*_LEVELS[level]):
        value = _apply(_OPERATORS[sign], value, _level(tokens, scope, level + 1))
    return value


def _factor(tokens: Tokens, scope: Scope) -> Value:
    if tokens.accept("-"):
        return _apply(operator.sub, 0.0, _factor(tokens, scope))
    if tokens.accept("("):
        value = _level(tokens, scope, 0)
        tokens.expect(")")
        return value
    if tokens.accept("["):
        return _flat(_arguments(tokens, scope, "]"))
    token = tokens.expect_kind("number", "word")
    if token.kind == "number":
        return float(token.value)
    if not tokens.accept("("):
        return scope.resolve(token.value)
    if token.value == "SEARCH":
        return _search(tokens, scope)
    if token.value == "METRICS":
        return _metrics(tokens, scope)
    return _call(token.value, _arguments(tokens, scope, ")"), scope.window)


def _arguments(tokens: Tokens, scope: Scope, closing: str) -> list[Value]:
    values = [_level(tokens, scope, 0)]
    while tokens.expect(",", closing) == ",":
        values.append(_level(tokens, scope, 0))
    return values


def _search(tokens: Tokens, scope: Scope) -> Value:
    query = tokens.expect_kind("text").value
    statistic = scope.statistic
    if tokens.accept(","):
        statistic = tokens.expect_kind("text").value
        if tokens.accept(","):
            tokens.expect_kind("number")  # the period: the window has its own
    tokens.expect(")")
    return search(query, statistic, scope.window)


def _metrics(tokens: Tokens, scope: Scope) -> Value:
    part = tokens.take().value if tokens.next.kind == "text" else ""
    tokens.expect(")")
    return tuple(line for name, line in scope.metrics().items() if part in name)


def _call(name: str, values: list[Value], window: Window) -> Value:
    if name in _REDUCERS and len(values) == 1:
        return _reduced(_REDUCERS[name], values[0])
    if name == "FILL" and len(values) == 2 and isinstance(values[1], float):
        return _filled(values[0], values[1], window)
    if name == "IF" and len(values) in {2, 3}:
        return _chosen(values[0], values[1], values[2] if len(values) == 3 else math.nan)
    if name == "PERIOD" and len(values) == 1:
        return float(window.period_seconds)
    raise QueryError(f"{name} of {len(values)} values: not evaluated here")


def _reduced(reduce: Callable[[Sequence[float]], float], value: Value) -> Value:
    """Of an array, a series (what is missing in some is left out); of a series, a number."""
    if isinstance(value, float):
        return value
    if isinstance(value, Line):
        return reduce([number for _, number in value.points]) if value.points else math.nan
    at: dict[int, list[float]] = {}
    for line in value:
        for start, number in line.points:
            at.setdefault(start, []).append(number)
    return _line({start: reduce(numbers) for start, numbers in at.items()})


def _filled(value: Value, number: float, window: Window) -> Value:
    if isinstance(value, float):
        return number if math.isnan(value) else value
    if isinstance(value, Line):
        return _filled_line(value, number, window)
    return tuple(_filled_line(line, number, window) for line in value)


def _filled_line(line: Line, number: float, window: Window) -> Line:
    there = dict(line.points)
    return replace(line, points=tuple((start, there.get(start, number)) for start in window.starts()))


def _chosen(condition: Value, then: Value, otherwise: Value) -> Value:
    def choose(asked: float, one: float, other: float) -> float:
        return math.nan if math.isnan(asked) else (one if asked else other)

    if isinstance(condition, tuple) or isinstance(then, tuple) or isinstance(otherwise, tuple):
        raise QueryError("IF of an array: not evaluated here")
    if isinstance(condition, float) and isinstance(then, float) and isinstance(otherwise, float):
        return choose(condition, then, otherwise)
    parts = (condition, then, otherwise)
    starts = sorted({start for part in parts if isinstance(part, Line) for start, _ in part.points})
    return _line({start: choose(*(_at(part, start) for part in parts)) for start in starts})


def _at(part: float | Line, start: int) -> float:
    return part if isinstance(part, float) else dict(part.points).get(start, math.nan)


def _apply(function: Callable[[float, float], float], one: Value, other: Value) -> Value:
    if isinstance(one, tuple) and isinstance(other, tuple):
        if len(one) != len(other):
            raise QueryError(f"arrays of {len(one)} and {len(other)} series: must be as many")
        pairs = zip(one, other, strict=True)
        return _flat([_apply(function, left, right) for left, right in pairs])
    if isinstance(one, tuple):
        return _flat([_named(line, _apply(function, line, other)) for line in one])
    if isinstance(other, tuple):
        return _flat([_named(line, _apply(function, one, line)) for line in other])
    if isinstance(one, float) and isinstance(other, float):
        return function(one, other)
    return _line(_calculated(function, one, other))


def _calculated(
    function: Callable[[float, float], float], one: float | Line, other: float | Line
) -> dict[int, float]:
    lines = [dict(part.points) for part in (one, other) if isinstance(part, Line)]
    # Only where both have a value.
    starts = set(lines[0]).intersection(*lines[1:])
    left = one if isinstance(one, float) else dict(one.points)
    right = other if isinstance(other, float) else dict(other.points)
    return {
        start: function(
            left if isinstance(left, float) else left[start],
            right if isinstance(right, float) else right[start],
        )
        for start in starts
    }


def _named(line: Line, result: Value) -> Value:
    """A series of an array keeps its name in what is calculated of it."""
    if isinstance(result, Line):
        return replace(result, label=line.label, contributor=line.contributor)
    return result


def _flat(values: list[Value]) -> tuple[Line, ...]:
    lines: list[Line] = []
    for value in values:
        if isinstance(value, float):
            raise QueryError("a number in an array: not evaluated here")
        lines += [value] if isinstance(value, Line) else value
    return tuple(lines)


def _line(values: Mapping[int, float]) -> Line:
    points = tuple((start, number) for start, number in sorted(values.items()) if not math.isnan(number))
    return Line(id=None, label="", unit=None, points=points)
