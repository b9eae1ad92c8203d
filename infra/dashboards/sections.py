"""What the sections of all dashboards are made of: headings, sums and shares."""

from collections.abc import Sequence
from typing import Final

from infra.metrics import Metric
from infra.widget_kinds import Graph, Text
from infra.widget_rows import Line, Maths

# Okabe and Ito's colours (docs/adr/0044), the same for the same outcome everywhere.
NEW: Final = "#0072b2"
DUPLICATE: Final = "#009e73"
FAILED: Final = "#d55e00"

_HEADING_HEIGHT: Final = 2


def section(title: str, about: str) -> Text:
    """A heading, and in one sentence how to read what follows."""
    return Text(f"## {title}\n{about}", height=_HEADING_HEIGHT)


def hidden(prefix: str, metrics: Sequence[Metric]) -> tuple[Line, ...]:
    """Lines that only maths needs, called `<prefix>0`, `<prefix>1` and so on."""
    return tuple(
        Line(metric, f"{prefix}{place}", id=f"{prefix}{place}", hidden=True)
        for place, metric in enumerate(metrics)
    )


def added(lines: Sequence[Line]) -> str:
    """The sum of lines. A zero where one has no data: otherwise there is no sum."""
    return " + ".join(f"FILL({line.id}, 0)" for line in lines)


def total(lines: Sequence[Line], label: str, *, right: bool = False, colour: str | None = None) -> Maths:
    """The sum of hidden lines as a line."""
    return Maths(added(lines), label, right, colour, tuple(line.metric for line in lines))


def present(lines: Sequence[Line]) -> str:
    """The sum of those lines that have data."""
    return f"SUM([{', '.join(str(line.id) for line in lines)}])"


def share(part: Sequence[Line], rest: Sequence[Line], label: str, colour: str | None = None) -> Maths:
    """What `part` is of `part` and `rest` together, in per cent; zero where there is neither."""
    whole = added((*part, *rest))
    return Maths(f"IF({whole} > 0, 100 * ({added(part)}) / ({whole}), 0)", label, colour=colour)


def taken_in(new: Sequence[Line], again: Sequence[Line]) -> Graph:
    """New requests and duplicates above each other, of all functions together."""
    return Graph(
        "Taken in: new ones and duplicates",
        "requests per {period}",
        (
            *new,
            *again,
            total(new, "new", colour=NEW),
            total(again, "duplicates", colour=DUPLICATE),
        ),
        stacked=True,
    )
