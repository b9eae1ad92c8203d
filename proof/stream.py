"""The receipts table with its stream: each change of an item, in the order of its writes, at least once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from proof.ports import Applied
from proof.receipts import Receipts, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from handlers.domain.receipt import Receipt
    from proof.programs import Call
    from proof.receipts import Place

WAITING: Final = "waiting"
DELIVERED: Final = "delivered"
LOST: Final = "lost"


@dataclass(frozen=True)
class Change:
    """A record of the stream. `status`: WAITING (nobody acknowledged it), DELIVERED or LOST."""

    place: Place
    new: Receipt | None
    old: Receipt | None
    status: str = WAITING


@dataclass(frozen=True)
class Streamed(Table):
    """A table, and the changes that its stream ever had: the filter's, with an `outboxId` in an image."""

    changes: tuple[Change, ...] = ()


class StreamedReceipts(Receipts):
    """The port `receipts`, its stream with it.

    A record stays where it is until it is acknowledged, so any number of dispatchers may be at one at once:
    Lambda promises no more than "at least once". A shard brings its records in order.
    """

    certain = frozenset({"take change", "acknowledge", "scan"})

    def initial(self) -> Streamed:
        """See `Port`."""
        return Streamed()

    def apply(self, state: Table, call: Call, now: int) -> Applied:
        """See `Port`."""
        assert isinstance(state, Streamed)
        if call.name == "take change":
            return Applied(state, _first(state, *call.arguments))
        if call.name == "acknowledge":
            return Applied(_with_status(state, call.arguments[0], DELIVERED), None)
        if call.name == "scan":  # an operator's: the receipts that have an outbox
            return Applied(state, tuple(item for _, item in state.items if item.outbox is not None))
        applied = super().apply(state, call, now)
        table: Table = applied.state
        written = [
            Change(place, item, state.item(place))
            for place, item in table.items
            if item != state.item(place) and item.outbox is not None
        ]
        return replace(applied, state=Streamed(table.items, table.windows, (*state.changes, *written)))

    def lapses(self, state: Table, now: int) -> Iterable[tuple[str, Table, tuple[str, ...]]]:
        """See `Port`. TTL's removals are changes too; the stream brings a record again, or loses one."""
        assert isinstance(state, Streamed)
        for said, left, broken in super().lapses(state, now):
            gone = [Change(place, None, item) for place, item in state.items if left.item(place) is None]
            assert isinstance(left, Streamed)
            yield said, replace(left, changes=(*left.changes, *gone)), broken
        for number, change in enumerate(state.changes):
            if change.status == DELIVERED:
                yield f"the stream brings record {number + 1} AGAIN", _with_status(state, number, WAITING), ()
            elif change.status == WAITING:
                yield f"the stream LOSES record {number + 1}", _with_status(state, number, LOST), ()


def _first(state: Streamed, tenant: str | None) -> tuple[int, Change] | None:
    """The first record of a shard that is not acknowledged: of this tenant's, or of all in one."""
    for number, change in enumerate(state.changes):
        if change.status == WAITING and tenant in (None, change.place[0]):
            return number, change
    return None


def _with_status(state: Streamed, number: int, status: str) -> Streamed:
    changed = replace(state.changes[number], status=status)
    return replace(state, changes=(*state.changes[:number], changed, *state.changes[number + 1 :]))
