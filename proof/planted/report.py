"""The planted versions as text: a line each while they are found, a table, and their schedules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from proof import figures, telling
from proof.planted.plant import find

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proof.planted.plant import Planted


@dataclass(frozen=True)
class Finding:
    """What the search made of one planted version.

    Attributes:
        moves, faults: of the smallest schedule. states: that were seen until then.
        story: the schedule, move by move; empty where nothing was broken.
        passed: it was found, it breaks what it should, and by as small a schedule as ever.
    """

    planted: Planted
    broken: tuple[str, ...]
    moves: int
    faults: int
    states: int
    seconds: float
    story: str

    @property
    def passed(self) -> bool:
        """See above."""
        expected = (self.planted.moves, self.planted.faults)
        return self.planted.breaks in self.broken and (self.moves, self.faults) == expected

    def line(self) -> str:
        """For a terminal, while others are still looked for."""
        size = f"{telling.size(self.moves, self.faults)}, {self.states:,} states, {self.seconds:.1f} s"
        return f"{'found' if self.passed else 'NOT FOUND'}: {self.planted.name}, {size}"


def finding(planted: Planted) -> Finding:
    """Look for one planted version."""
    found = find(planted)
    return Finding(
        planted=planted,
        broken=found.broken,
        moves=len(found.moves),
        faults=telling.faults(found),
        states=found.states,
        seconds=found.seconds,
        story=telling.told(found) if found.broken else "",
    )


def findings(every: Sequence[Planted], tell: Callable[[Finding], None] = lambda _: None) -> list[Finding]:
    """Look for each; `tell` hears of each when it was looked for."""
    made = []
    for planted in every:
        made.append(finding(planted))
        tell(made[-1])
    return made


def table(made: Sequence[Finding]) -> str:
    """The Markdown table: what is planted, what it breaks, and how small the schedule is."""
    rows = [
        [
            f"`{one.planted.name}`",
            one.planted.what,
            one.planted.breaks if one.passed else "NOT FOUND",
            f"{one.moves}",
            f"{one.faults}",
            f"{one.states:,}",
            f"{one.seconds:.1f}",
        ]
        for one in made
    ]
    head = ("planted", "what is broken", "what the search found", "moves", "faults", "states", "seconds")
    return figures.table(head, rows)


def schedules(made: Sequence[Finding]) -> str:
    """Each smallest schedule, under the name of what is planted."""
    return "\n\n".join(
        f"### {one.planted.name}\n\n{one.planted.what}\n\n```text\n{one.story}\n```" for one in made
    )
