"""CloudWatch Logs' metric filters over lines of JSON, which the local AWS keeps and never applies.

What is evaluated: `{ ... }` with `$.name`, = != < <= > >=, numbers, texts (with * at either end), &&, || and
parentheses; values and dimensions that are `$.name` or plain. Anything else is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ops.observing.series import Point, SeriesName, Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<field>\$\.\w+)|(?P<number>-?\d+(?:\.\d+)?(?=[\s)}&|]))|(?P<sign>&&|\|\||[<>!]=|[=<>(){}])
    |"(?P<text>[^"]*)"|(?P<word>[\w*.:/-]+))""",
    re.VERBOSE,
)
_COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


class PatternError(ValueError):
    """A pattern that CloudWatch would refuse, or that is not evaluated here."""


@dataclass(frozen=True, slots=True)
class MetricFilter:
    """One metric of a filter."""

    fits: Callable[[Mapping[str, Any]], bool]
    namespace: str
    name: str
    value: str
    unit: Unit
    dimensions: Mapping[str, str]

    def points(self, document: Mapping[str, Any], at_ms: int, origin: str) -> Iterator[Point]:
        """The metric of a line, if the line fits; none where it lacks a dimension or the value."""
        if not self.fits(document):
            return
        found = {name: _said(place, document) for name, place in self.dimensions.items()}
        value = _said(self.value, document)
        if value is None or any(one is None for one in found.values()):
            return
        series = SeriesName.of(self.namespace, self.name, {name: str(one) for name, one in found.items()})
        yield Point(series, self.unit, at_ms, float(value), origin=origin)


def of_api(described: Mapping[str, Any]) -> list[MetricFilter]:
    """The metrics of a filter as DescribeMetricFilters tells of it. Raises PatternError."""
    fits = compiled(described["filterPattern"])
    return [
        MetricFilter(
            fits,
            made["metricNamespace"],
            made["metricName"],
            made["metricValue"],
            Unit(made.get("unit", "None")),
            made.get("dimensions") or {},
        )
        for made in described["metricTransformations"]
    ]


def compiled(pattern: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a line of JSON fits a pattern. Raises PatternError."""
    words = _Words(pattern)
    words.expect("{")
    fits = _either(words)
    words.expect("}")
    if words.left:
        raise PatternError(f"{pattern!r}: something comes after its end")
    return fits


def _said(place: str, document: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever the line holds
    return document.get(place[2:]) if place.startswith("$.") else place


class _Words:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.left: list[tuple[str, str]] = []
        at = 0
        while at < len(pattern.rstrip()):
            found = _TOKEN.match(pattern, at)
            if found is None or found.lastgroup is None:
                raise PatternError(f"{pattern!r}: cannot be read from {pattern[at:][:20]!r} on")
            self.left.append((found.lastgroup, found[found.lastgroup]))
            at = found.end()

    def take(self, *kinds: str) -> tuple[str, str]:
        if not self.left or self.left[0][0] not in kinds:
            raise PatternError(f"{self._pattern!r}: expected a {' or '.join(kinds)}")
        return self.left.pop(0)

    def accept(self, sign: str) -> bool:
        if self.left and self.left[0] == ("sign", sign):
            self.left.pop(0)
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            raise PatternError(f"{self._pattern!r}: expected {sign}")


def _either(words: _Words) -> Callable[[Mapping[str, Any]], bool]:
    terms = [_both(words)]
    while words.accept("||"):
        terms.append(_both(words))
    return terms[0] if len(terms) == 1 else lambda document: any(term(document) for term in terms)


def _both(words: _Words) -> Callable[[Mapping[str, Any]], bool]:
    terms = [_term(words)]
    while words.accept("&&"):
        terms.append(_term(words))
    return terms[0] if len(terms) == 1 else lambda document: all(term(document) for term in terms)


def _term(words: _Words) -> Callable[[Mapping[str, Any]], bool]:
    if words.accept("("):
        inner = _either(words)
        words.expect(")")
        return inner
    name = words.take("field")[1][2:]
    sign = words.take("sign")[1]
    kind, wanted = words.take("number", "text", "word")
    if sign in {"=", "!="}:
        return _equality(name, kind, wanted, equal=sign == "=")
    if sign not in _COMPARISONS or kind != "number":
        raise PatternError(f"{name} {sign} {wanted}: not evaluated here")
    compare, bound = _COMPARISONS[sign], float(wanted)
    return lambda document: (value := _number(document.get(name))) is not None and compare(value, bound)


def _equality(name: str, kind: str, wanted: str, *, equal: bool) -> Callable[[Mapping[str, Any]], bool]:
    if kind == "number":
        number = float(wanted)
        return lambda document: name in document and (_number(document[name]) == number) is equal
    shape = re.compile(re.escape(wanted).replace(r"\*", ".*"))
    return lambda document: name in document and bool(shape.fullmatch(str(document[name]))) is equal


def _number(value: object) -> float | None:
    """A number; also one that stands in quotes, as everything in our access log does."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
