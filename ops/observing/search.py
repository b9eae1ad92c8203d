"""SEARCH expressions: `{Onceward,Service,TenantId} MetricName="Accepted" Service="onceward-dev_ingest"`.

What is evaluated: the schema, `name="value"` (the whole value), `name=value` and bare words (each of its
words is in the value, in any case), AND (also by standing side by side), OR, NOT and parentheses. Not
evaluated: account ids.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ops.observing.lines import Line, Window
from ops.observing.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.observing.series import SeriesName
    from ops.observing.store import MetricStore

# A search returns so many series at most (CloudWatch's user guide, "search expression syntax").
_MOST_SERIES: Final = 500
_PARTS: Final = re.compile(r"[A-Za-z0-9]+")


def search(query: str, statistic: str, window: Window) -> tuple[Line, ...]:
    """A line for each series that is found and has data, in order of their names. Raises QueryError."""
    lines = []
    for series in matching(query, window.store):
        points = window.store.read(series, statistic, window.period_seconds, window.start_ms, window.end_ms)
        if points:
            lines.append(_line(series, window, points))
    return tuple(lines[:_MOST_SERIES])


def matching(query: str, store: MetricStore) -> list[SeriesName]:
    """Every series that is found, in order of their names, whenever it had data. Raises QueryError."""
    namespace, dimensions, fits = parse(query)
    return [
        series
        for series in store.names(namespace)
        if dimensions in (None, {name for name, _ in series.dimensions}) and fits(_described(series))
    ]


def parse(query: str) -> tuple[str | None, set[str] | None, Callable[[Mapping[str, str]], bool]]:
    """The namespace and set of dimensions of the schema (None where there is none), and the search's terms.

    Raises QueryError.
    """
    tokens = Tokens(query)
    namespace, dimensions = _schema(tokens)
    if tokens.next.kind == "end":
        if namespace is None:
            raise tokens.error("expected a schema or a term")
        return namespace, dimensions, _any
    fits = _either(tokens)
    tokens.expect_end()
    return namespace, dimensions, fits


def _line(series: SeriesName, window: Window, points: list[tuple[int, float]]) -> Line:
    return Line(
        id=None,
        label=" ".join((*(value for _, value in series.dimensions), series.name)),
        unit=window.store.unit(series),
        points=tuple(points),
        contributor=series.dimensions,
        origin=window.store.origin(series),
        metric=series.name,
    )


def _described(series: SeriesName) -> Mapping[str, str]:
    return {**dict(series.dimensions), "MetricName": series.name, "Namespace": series.namespace}


def _any(_described: Mapping[str, str]) -> bool:
    return True


def _schema(tokens: Tokens) -> tuple[str | None, set[str] | None]:
    if not tokens.accept("{"):
        return None, None
    namespace = tokens.expect_kind("word", "text").value
    dimensions = set()
    while tokens.accept(","):
        dimensions.add(tokens.expect_kind("word", "text").value)
    tokens.expect("}")
    return namespace, dimensions


def _either(tokens: Tokens) -> Callable[[Mapping[str, str]], bool]:
    terms = [_both(tokens)]
    while tokens.accept("OR"):
        terms.append(_both(tokens))
    return terms[0] if len(terms) == 1 else lambda described: any(term(described) for term in terms)


def _both(tokens: Tokens) -> Callable[[Mapping[str, str]], bool]:
    terms = [_term(tokens)]
    while not _ends(tokens):
        tokens.accept("AND")
        terms.append(_term(tokens))
    return terms[0] if len(terms) == 1 else lambda described: all(term(described) for term in terms)


def _ends(tokens: Tokens) -> bool:
    token = tokens.next
    closes = token.kind == "sign" and token.value == ")"
    return token.kind == "end" or closes or (token.kind == "word" and token.value.upper() == "OR")


def _term(tokens: Tokens) -> Callable[[Mapping[str, str]], bool]:
    if tokens.accept("NOT"):
        refused = _term(tokens)
        return lambda described: not refused(described)
    if tokens.accept("("):
        inner = _either(tokens)
        tokens.expect(")")
        return inner
    first = tokens.expect_kind("word", "number", "text")
    if first.quote == "'" or not tokens.accept("="):
        return _anywhere(first.value, exact=bool(first.quote))
    return _of(first.value, tokens)


def _of(name: str, tokens: Tokens) -> Callable[[Mapping[str, str]], bool]:
    """`name=value`, or `name=(value OR value)`."""
    if not tokens.accept("("):
        value = tokens.expect_kind("word", "number", "text")
        return _has(name, value.value, exact=bool(value.quote))
    values = [tokens.expect_kind("word", "number", "text")]
    while tokens.accept("OR"):
        values.append(tokens.expect_kind("word", "number", "text"))
    tokens.expect(")")
    terms = [_has(name, value.value, exact=bool(value.quote)) for value in values]
    return terms[0] if len(terms) == 1 else lambda described: any(term(described) for term in terms)


def _has(name: str, wanted: str, *, exact: bool) -> Callable[[Mapping[str, str]], bool]:
    return lambda described: name in described and _matches(described[name], wanted, exact=exact)


def _anywhere(wanted: str, *, exact: bool) -> Callable[[Mapping[str, str]], bool]:
    return lambda described: any(
        _matches(word, wanted, exact=exact) for pair in described.items() for word in pair
    )


def _matches(value: str, wanted: str, *, exact: bool) -> bool:
    if exact:
        return value == wanted
    there = {part.lower() for part in _PARTS.findall(value)}
    return {part.lower() for part in _PARTS.findall(wanted)} <= there
