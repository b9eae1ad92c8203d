"""The figures of `docs/proof.md`: tables that a command writes between marks, and nobody by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from proof.running import Report


def marked(name: str, text: str) -> str:
    """A part of the page with its marks."""
    return f"<!-- {name} -->\n{text.strip()}\n<!-- /{name} -->"


def put(page: Path, name: str, text: str) -> None:
    """Put `text` in the place of the part `name` of `page`. Raises ValueError where there is none."""
    old = page.read_text(encoding="utf-8")
    part = re.compile(rf"<!-- {re.escape(name)} -->\n.*?<!-- /{re.escape(name)} -->", re.DOTALL)
    new, count = part.subn(lambda _: marked(name, text), old)
    if count != 1:
        raise ValueError(f"{page}: {count} parts are marked {name}; one is needed")
    page.write_text(new, encoding="utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first to the right."""
    ruler = ["---", *["---:"] * (len(head) - 1)]
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
