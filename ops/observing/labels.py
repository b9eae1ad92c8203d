"""What a line is called: CloudWatch's dynamic labels, and what keeps two lines of one graph apart."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.observing.lines import Line

_DYNAMIC: Final = re.compile(r"\$\{(?P<name>[A-Z_]+)(?:\('(?P<argument>[^']*)'\))?\}")
_OF_VALUES: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "AVG": lambda values: sum(values) / len(values),
    "DATAPOINT_COUNT": len,
    "FIRST": lambda values: values[0],
    "LAST": lambda values: values[-1],
    "MAX": max,
    "MIN": min,
    "SUM": sum,
}


def labelled(wanted: str | None, line: Line, *, several: bool) -> Line:
    """The line with the label that its query asks for; with its own, where the query asks for none.

    `several`: the query made other lines too, so that its label alone would not tell them apart.
    """
    if not wanted:
        return line
    if _DYNAMIC.search(wanted):
        return replace(line, label=_DYNAMIC.sub(lambda found: _value(found, line), wanted))
    return replace(line, label=f"{wanted} {line.label}" if several else wanted)


def told_apart(lines: Sequence[Line]) -> list[Line]:
    """Visible lines of equal labels get what differs in their dimensions added, as CloudWatch does."""
    shown = [line for line in lines if line.visible]
    counts = Counter(line.label for line in shown)
    return [_distinct(line, shown) if line.visible and counts[line.label] > 1 else line for line in lines]


def _distinct(line: Line, lines: Sequence[Line]) -> Line:
    same = [dict(other.contributor) for other in lines if other.label == line.label]
    differing = [value for name, value in line.contributor if len({one.get(name) for one in same}) > 1]
    return replace(line, label=" ".join((line.label, *differing)))


def _value(found: re.Match[str], line: Line) -> str:
    name, argument = found["name"], found["argument"]
    if name == "LABEL":
        return line.label
    if name == "PROP" and argument is not None:
        told = {"MetricName": line.metric or "", **{f"Dim.{key}": value for key, value in line.contributor}}
        return told.get(argument, found[0])
    if name not in _OF_VALUES:
        return found[0]
    values = [value for _, value in line.points]
    return f"{_OF_VALUES[name](values):g}" if values else "-"
