"""Brings what was found of a run to the part of its keys that it belongs to.

A record, an event, a charge names no key: the receipt that names it does, or else the request whose body is
in it. This is a join of two lists that may be longer than memory: both are put in files by the hash of what
they have in common, and joined a file at a time.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from loadtest.partitions import Partitions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# By the id that a receipt names; by tenant and body; by the body alone, whoever sent it.
_ROUNDS: Final = 3


class Router:
    """Takes claims (this part has that name) and items (whoever has one of these names), in any order."""

    def __init__(self, folder: Path, count: int) -> None:
        """`folder`: an empty one. `count`: of parts."""
        self._rounds = []
        for number in range(_ROUNDS):
            (folder / str(number)).mkdir(mode=0o700)
            self._rounds.append(Partitions(folder / str(number), count))

    def claim(self, round_number: int, name: str, part: int) -> None:
        """A part has this name."""
        self._rounds[round_number].add(name, ["claim", name, part])

    def send(self, names: Sequence[str], otherwise: int, item: list[Any]) -> None:
        """An item, with a name for each round, as many as it has. It goes to every part that claims the first
        name that is claimed; to the part `otherwise` when none is."""
        self._send([*names], 0, otherwise, item)

    def _send(self, names: list[str], round_number: int, otherwise: int, item: list[Any]) -> None:
        name, *others = names
        self._rounds[round_number].add(name, ["item", name, others, otherwise, item])

    def deliver(self, parts: Partitions) -> None:
        """Put every item where it belongs. To be called once, when all is there."""
        for number, shelf in enumerate(self._rounds):
            for rows in shelf.parts():
                claims: defaultdict[str, set[int]] = defaultdict(set)
                for kind, name, *rest in rows:
                    if kind == "claim":
                        claims[name].add(rest[0])
                for kind, name, *rest in rows:
                    if kind == "item":
                        others, otherwise, item = rest
                        if name not in claims and others:
                            self._send(others, number + 1, otherwise, item)
                            continue
                        for part in claims.get(name) or {otherwise}:
                            parts.add_to(part, item)
