"""The items of the peer's table, and what the checker remembers of the uses of a key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Item = dict[str, dict[str, str]]
"""As DynamoDB's API has it: attribute name to type to value."""


@dataclass(frozen=True)
class Claim:
    """A claim whose holder has not ended it by a write of its own. `until`: ms since the epoch."""

    by: str
    until: int


@dataclass(frozen=True)
class Window:
    """One use of a key, as the checker remembers it, whatever becomes of the item.

    Attributes:
        id: the item's. since: when it was opened, ms since the epoch.
        until: when it ends by all that was written, in seconds since the epoch. (The utility still keeps a
            record for the second that begins then; nothing is judged in that.)
        holder: who claimed last; None once that attempt deleted its claim.
        claims: those not ended by their holders. claimants: everybody who ever held it.
        answers: the texts that were stored, each once, oldest first.
    """

    id: str
    since: int
    until: int
    holder: str | None
    claims: tuple[Claim, ...]
    claimants: tuple[str, ...]
    answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """The items that stand, by id, and every window that there ever was, oldest first."""

    items: tuple[tuple[str, Item], ...] = ()
    windows: tuple[Window, ...] = ()

    def item(self, item_id: str) -> Item | None:
        """The item of an id."""
        return dict(self.items).get(item_id)

    def window(self, item_id: str) -> Window | None:
        """The latest window of an id."""
        return next((one for one in reversed(self.windows) if one.id == item_id), None)

    def with_item(self, item_id: str, item: Item | None) -> Table:
        """With this item in the place of what was there."""
        items = {**dict(self.items), item_id: item}
        return replace(self, items=tuple(sorted((k, v) for k, v in items.items() if v is not None)))

    def with_window(self, window: Window, *, new: bool) -> Table:
        """With this window, a new one or the latest of its id, changed."""
        if new:
            return replace(self, windows=(*self.windows, window))
        latest = self.window(window.id)
        return replace(self, windows=tuple(window if one is latest else one for one in self.windows))

    def meanings(self, at: int) -> Iterator[str]:
        """What begins at the moment `at` (ms since the epoch), in words."""
        for item_id, item in self.items:
            window = self.window(item_id)
            holder = "nobody" if window is None else window.holder or "nobody"
            over = (number(item, "expiration") + 1) * 1000
            moments = {over - 1: "the record is all but expired", over: "the record is expired"}
            if item["status"]["S"] == "INPROGRESS":
                until = number(item, "in_progress_expiration")
                moments |= {
                    until: f"the claim of {holder} ends",
                    until + 1: f"the claim of {holder} is over",
                }
            yield from (said for moment, said in moments.items() if moment == at)


def number(item: Item, name: str) -> int:
    """A number of an item."""
    return int(item[name]["N"])
