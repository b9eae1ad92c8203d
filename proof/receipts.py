"""The receipts table under the scheduler: the contract-proved fake, and what its rows may never do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from handlers.domain.receipt import Receipt, Status, StoredResponse
from proof.aws import AwsPort
from proof.ports import Applied
from proof.programs import name_in
from proof.provider import HONOURS_MS, SETTLE_MS
from proof.receipt_changes import LIVES_MS, Change, broken_by_answer, broken_by_deletion, broken_by_ttl
from tests.fakes.receipts import InMemoryReceipts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from handlers.domain.ports import OwnersOutcome, PutOutcome, TakeOverOutcome
    from handlers.domain.protocol import Claim
    from proof.programs import Ask, Call
    from proof.scenario import Seen

Place = tuple[str, str]
_MS = 1000


@dataclass(frozen=True)
class Window:
    """One use of a key, as the checker remembers it, whatever becomes of the item.

    Attributes:
        place: tenant and key. generation, expires_at: of the claim that opened it.
        opened_at: when that took effect, by the gateway's clock (not when the code says).
        owners: everybody who ever held its claim. leased_until: the latest end of their leases.
        answer: what was stored, once it was; `answered_by`, `answered_at`: who stored it, and when.
    """

    place: Place
    generation: str
    opened_at: int
    expires_at: int
    owners: tuple[str, ...]
    leased_until: int
    answer: StoredResponse | None = None
    answered_by: str | None = None
    answered_at: int = 0


@dataclass(frozen=True)
class Table:
    """The items that stand, by place, and every window that there ever was, oldest first."""

    items: tuple[tuple[Place, Receipt], ...] = ()
    windows: tuple[Window, ...] = ()

    def item(self, place: Place) -> Receipt | None:
        """The item of a place."""
        return dict(self.items).get(place)


class AskingStore:
    """`ReceiptStore` for the program: each method is a call that the scheduler decides on."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        """See `ReceiptStore`."""
        outcome: PutOutcome = self._ask("receipts", "put", receipt, claim)
        return outcome

    def take_over(self, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int) -> TakeOverOutcome:
        """See `ReceiptStore`."""
        outcome: TakeOverOutcome = self._ask("receipts", "take_over", lapsed, claim, lease_until, expires_at)
        return outcome

    def checkpoint(self, owned: Receipt, text: str) -> OwnersOutcome:
        """See `ReceiptStore`."""
        outcome: OwnersOutcome = self._ask("receipts", "checkpoint", owned, text)
        return outcome

    def complete(self, owned: Receipt) -> OwnersOutcome:
        """See `ReceiptStore`."""
        outcome: OwnersOutcome = self._ask("receipts", "complete", owned)
        return outcome

    def release(self, owned: Receipt) -> OwnersOutcome:
        """See `ReceiptStore`."""
        outcome: OwnersOutcome = self._ask("receipts", "release", owned)
        return outcome


class Receipts(AwsPort):
    """The port."""

    name = "receipts"

    def __init__(self, skews_ms: Mapping[str, int] | None = None) -> None:
        """`skews_ms`: how far each attempt's worker is off, by its name; the others are not."""
        self._skews = dict(skews_ms or {})
        self._widest = max(map(abs, self._skews.values()), default=0)

    def initial(self) -> Table:
        """See `Port`."""
        return Table()

    def apply(self, state: Table, call: Call, now: int) -> Applied:
        """See `Port`."""
        store = InMemoryReceipts()
        store.items = dict(state.items)
        result = getattr(store, call.name)(*call.arguments)
        windows, broken = state.windows, list[str]()
        for place, item in store.items.items():
            before = state.item(place)
            if item != before:
                change = Change(before, item, call, now + self._skews.get(name_in(item.owner), 0), now)
                broken += change.broken()
                windows = _remembered(windows, item, now)
                broken += broken_by_answer(windows, before, item)
        broken += broken_by_deletion(place for place, _ in state.items if place not in store.items)
        items = tuple(sorted(store.items.items(), key=lambda one: one[0]))
        return Applied(Table(items, windows), result, tuple(broken))

    def instants(self, state: Table) -> Iterable[int]:
        """See `Port`. The last ms of a lease, by each clock, and of a window; the first after each."""
        skews = {0, *self._skews.values()}
        for _, item in state.items:
            if item.status is Status.IN_PROGRESS:
                at = item.lease_until
                moments = [at - 1, at, at + 1, *_of_the_provider(item)]
                yield from (moment - skew for skew in skews for moment in moments)
            yield from (item.expires_at - 1, item.expires_at)
            yield item.purge_at * _MS

    def lapses(self, state: Table, now: int) -> Iterable[tuple[str, Table, tuple[str, ...]]]:
        """See `Port`. TTL deletes what is due, some time or other."""
        for place, item in state.items:
            if item.purge_at * _MS <= now:
                left = tuple(one for one in state.items if one[0] != place)
                broken = tuple(broken_by_ttl(item, now, self._widest))
                yield f"TTL deletes the item of {place[1]}", replace(state, items=left), broken


def _of_the_provider(item: Receipt) -> tuple[int, ...]:
    """From when on an attempt may outlive what the provider knows of a key; when a look-up is final."""
    if item.operation != "payments":
        return ()
    forgets = item.created_at + HONOURS_MS
    return forgets - LIVES_MS - 1, forgets - LIVES_MS, forgets + SETTLE_MS - 1, forgets + SETTLE_MS


def leases_over(seen: Seen) -> int:
    """When every lease is over, ms since the epoch; now, if none runs."""
    table: Table = seen.ports["receipts"]
    leases = [item.lease_until + 1 for _, item in table.items if item.status is Status.IN_PROGRESS]
    return max([seen.now, *leases])


def _remembered(windows: tuple[Window, ...], item: Receipt, now: int) -> tuple[Window, ...]:
    """The windows after an item became what it is, at `now`."""
    answered = item.status is Status.COMPLETED
    changed = Window(
        (item.tenant_id, item.key),
        item.generation,
        now,
        item.expires_at,
        (item.owner,),
        item.lease_until,
        item.response if answered else None,
        item.owner if answered else None,
        now if answered else 0,
    )
    for number, window in enumerate(windows):
        if (window.place, window.generation) == (changed.place, changed.generation):
            owners = tuple(dict.fromkeys((*window.owners, item.owner)))
            # While it is not answered its window is at least as long as a lease; then, what was stored.
            ends = item.expires_at if answered else max(window.expires_at, item.expires_at)
            leased = max(window.leased_until, item.lease_until)
            changed = replace(
                changed, opened_at=window.opened_at, owners=owners, expires_at=ends, leased_until=leased
            )
            return (*windows[:number], changed, *windows[number + 1 :])
    return (*windows, changed)
