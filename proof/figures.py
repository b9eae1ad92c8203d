"""The tables of `docs/proof.md`; `ops.figures` puts them in their places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proof.running import Report

_FIGURE: Final = re.compile(r"[\d,.]+|not finished|-")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; columns of figures to the right."""
    columns = list(zip(*rows, strict=True)) or [()] * len(head)
    ruler = ["---:" if all(map(_FIGURE.fullmatch, column)) else "---" for column in columns]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ruler, *rows))


def searches(reports: Sequence[Report]) -> str:
    """The table of the searches."""
    rows = [
        [
            one.scenario,
            f"{one.states:,}",
            f"{one.schedules:,}",
            f"{sum(one.faults.values()):,}",
            f"{one.executions:,}",
            f"{one.seconds:.0f}",
            str(one.violations) if one.complete or one.violations else "not finished",
        ]
        for one in reports
    ]
    return table(
        ("scenario", "states", "schedules", "faults tried", "runs of the code", "seconds", "violations"), rows
    )
