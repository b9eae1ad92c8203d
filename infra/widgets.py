"""A dashboard's body: its widgets placed on the grid, as text; and which metrics a text reads."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from infra.expressions import MetricReference, in_expression, in_search
from infra.widget_kinds import GRID_WIDTH, AlarmStatus, Graph, Number, Text, Widget

__all__ = ["MetricReference", "body", "in_expression", "placed", "references"]

# Long enough to see how it was before, short enough for minutes to be seen.
_TIME_RANGE: Final = "-PT3H"
_TYPES: Final[Mapping[type[Widget], str]] = {
    Text: "text",
    AlarmStatus: "alarm",
    Graph: "metric",
    Number: "metric",
}
_ID: Final = re.compile(r"\b[a-z][A-Za-z0-9_]*\b")
_MATHS: Final = re.compile(r"[A-Za-z0-9_ ,.()\[\]<>=*/+-]+")
# A variable has no statistic: it asks for the values of a dimension.
_OF_A_VARIABLE: Final = "SampleCount"


def body(widgets: Iterable[Widget], region: str, variables: Sequence[Mapping[str, object]] = ()) -> str:
    """A dashboard's body: the same text for the same widgets, laid out from left to right, row by row."""
    document: dict[str, object] = {
        # The period of each graph is what its unit and its alarms' lines say, whatever time is shown.
        "periodOverride": "inherit",
        "start": _TIME_RANGE,
        "widgets": [
            {
                "type": _TYPES[type(widget)],
                "x": x,
                "y": y,
                "width": widget.width,
                "height": widget.height,
                "properties": widget.properties(region),
            }
            for x, y, widget in placed(widgets)
        ],
    }
    if variables:
        document["variables"] = list(variables)
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def placed(widgets: Iterable[Widget]) -> Iterator[tuple[int, int, Widget]]:
    """Each widget with its column and line on the grid: a new row where one does not fit into the last.

    Raises ValueError for a widget that is wider than the grid.
    """
    x = y = height = 0
    for widget in widgets:
        if widget.width > GRID_WIDTH:
            raise ValueError(f"a widget of {widget.width} columns: the grid has {GRID_WIDTH}")
        if x + widget.width > GRID_WIDTH:
            x, y, height = 0, y + height, 0
        yield x, y, widget
        x, height = x + widget.width, max(height, widget.height)


def references(body: str) -> frozenset[MetricReference]:
    """Every metric that a dashboard's body reads, those within SEARCH, SELECT and variables too.

    One for each combination of the names and values that a query gives. Raises ValueError for an expression
    that is not written as ours are, and for maths about an id that no row of its widget has.
    """
    document = json.loads(body)
    found: set[MetricReference] = set()
    for widget in document["widgets"]:
        found.update(_of_rows(widget["properties"].get("metrics", [])))
    for variable in document.get("variables", []):
        if "search" in variable:
            found.update(in_search(variable["search"], _OF_A_VARIABLE))
    return frozenset(found)


def _of_rows(rows: Sequence[Sequence[Any]]) -> Iterator[MetricReference]:
    ids = {row[-1]["id"] for row in rows if "id" in row[-1]}
    for *parts, options in rows:
        if "expression" not in options:
            namespace, name, *pairs = parts
            dimensions = tuple(sorted(zip(pairs[::2], pairs[1::2], strict=True)))
            names = frozenset(key for key, _ in dimensions)
            yield MetricReference(namespace, name, names, dimensions, options["stat"])
        elif options["expression"].startswith(("SELECT ", "SEARCH(")):
            yield from in_expression(options["expression"])
        else:
            _require_maths(options["expression"], ids)


def _require_maths(expression: str, ids: set[str]) -> None:
    unknown = set(_ID.findall(expression)) - ids
    if unknown or not _MATHS.fullmatch(expression):
        raise ValueError(f"maths about {sorted(unknown) or 'something else than ids'}: {expression}")
