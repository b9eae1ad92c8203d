"""The table of runs in `docs/proof.md`: a row for each seed, and one for each fault that was planted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from chaos.faults import Kind
from ops.figures import put

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from chaos.outcome import Outcome
    from loadtest.run import RunSettings

PART: Final = "chaos"
"""The part of the page, by its mark."""
HEAD: Final = (
    "planted",
    "seed",
    "requests",
    "faults",
    "lost and replayed",
    "redriven",
    "bus calls again",
    "clocks apart (s)",
    "violations",
    "seconds",
    "found by",
)
# Of the reasons why a run failed, the first says enough; a key would say nothing to a reader.
_REASON: Final = re.compile(r"VIOLATION [a-z-]+|LOST by dispatch")


def row(settings: RunSettings, outcome: Outcome, plant: str | None, failures: Sequence[str]) -> list[str]:
    """What the page says of a run."""
    counts, verdict = outcome.tally.counts, outcome.verdict
    found = sorted({match[0] for one in failures if (match := _REASON.match(one))})
    return [
        plant or "nothing",
        str(settings.seed),
        f"{settings.requests:,}",
        ", ".join(f"{kind.name.lower().replace('_', ' ')} {counts[kind]:,}" for kind in Kind),
        f"{outcome.lost:,}",
        f"{sum(outcome.redriven.values()):,}",
        f"{outcome.bus_again:,}",
        f"{outcome.tally.gap}",
        "not judged" if verdict is None else f"{verdict.total:,}",
        f"{outcome.seconds:.0f}",
        ", ".join(found) or ("FAILED" if failures else "-"),
    ]


def write(page: Path, new: Sequence[str]) -> None:
    """Put a run into the table, in the place of the last one with the same plant and seed.

    Raises:
        ValueError: the page has no such part.
    """
    part = re.search(rf"<!-- {PART} -->\n(.*?)<!-- /{PART} -->", page.read_text(encoding="utf-8"), re.DOTALL)
    rows = {}
    for line in part[1].splitlines() if part else ():
        cells = [one.strip() for one in line.strip("| ").split(" | ")]
        if len(cells) == len(HEAD) and cells[0] != HEAD[0] and not cells[0].startswith("---"):
            rows[cells[0] != "nothing", cells[0], cells[1]] = cells
    rows[new[0] != "nothing", new[0], new[1]] = list(new)
    ruler = ["---", *["---:"] * (len(HEAD) - 1)]
    lines = [HEAD, ruler, *(rows[which] for which in sorted(rows))]
    put(page, PART, "\n".join(f"| {' | '.join(one)} |" for one in lines))
