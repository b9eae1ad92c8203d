"""What a change of a receipt may never be, whoever makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.receipt import Status
from proof.programs import name_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from handlers.domain.receipt import Receipt
    from proof.programs import Call
    from proof.receipts import Place, Window

_REDIRECT: Final = 300
# Not what the code has, but what it is held to. TTL leaves an outbox and an unfinished claim alone for eight
# days: a stream's day, and a week in which people find time to replay (DESIGN, section 7).
_KEPT_MS: Final = 8 * 86_400_000
LEASE_MS: Final = 33_000
"""The longest lease: the 28 s that an invocation may have, and five of margin (DESIGN, section 7)."""
LIVES_MS: Final = LEASE_MS + 5_000 - 1
"""How long an attempt may still do something: its lease, and less than the margin once more, which is what
the last call of a stopped process may still take to arrive."""
# The calls that claim; "write" is a planted one.
_CLAIMS: Final = ("put", "take_over", "write")


@dataclass(frozen=True)
class Change:
    """An item was changed from `before` to `item` by `call`.

    `now`: by the gateway's clock; `clock`: by that of the worker whose call it is.
    """

    before: Receipt | None
    item: Receipt
    call: Call
    clock: int
    now: int

    def broken(self) -> Iterator[str]:
        """What this change breaks."""
        before, item = self.before, self.item
        claimed = self.call.name in _CLAIMS and item.status is Status.IN_PROGRESS
        if claimed and item.lease_until < self.clock - (LIVES_MS - LEASE_MS):  # it may have arrived late
            yield f"{self._owner} claimed without a lease: nobody waits until it has finished"
        if claimed and item.lease_until > self.clock + LEASE_MS:
            yield f"{self._owner} claimed with a lease that is longer than it may run"
        if before is None:
            return
        if item.generation != before.generation:
            yield from self._opened(before)
        elif before.status is Status.COMPLETED:
            who = self._owner if self.call.name == "take_over" else self._writer
            yield f"{who} changed a stored answer inside its window"
        elif self.call.name == "take_over":
            yield from self._taken_over(before)
        elif self._writer != name_in(before.owner):
            owner = name_in(before.owner)
            yield f"{self._writer} wrote ({self.call.name}) after it had lost its lease to {owner}"

    @property
    def _writer(self) -> str:
        return name_in(self.call.arguments[0].owner)

    @property
    def _owner(self) -> str:
        return name_in(self.item.owner)

    @property
    def _claim(self) -> Any:  # noqa: ANN401 - a Claim, where the call has one
        return self.call.arguments[1] if len(self.call.arguments) > 1 else None

    def _opened(self, before: Receipt) -> Iterator[str]:
        """Another window was opened. Judged by the gateway's clock, too: the code may say what it likes."""
        writer = self._owner
        if self.call.name == "take_over":
            yield f"{writer} took over under a new generation: what the old one did is forgotten"
        elif before.expires_at > min(self._claim.arrival_ms, self.now):
            yield f"{writer} opened a second window inside the first"
        elif before.status is Status.IN_PROGRESS and before.fingerprint == self.item.fingerprint:
            yield f"{writer} overwrote an unfinished claim of its own request, which may have acted"
        elif before.status is Status.IN_PROGRESS and before.lease_until >= self.clock:
            yield f"{writer} overwrote a claim whose owner was running"

    def _taken_over(self, before: Receipt) -> Iterator[str]:
        owner, taker = name_in(before.owner), self._owner
        if self._writer != owner:
            yield f"{taker} took the claim of {owner} over for that of {self._writer}, who had lost it"
        elif before.lease_until > self.clock:
            yield f"{taker} took the claim of {owner} over inside its lease"


def broken_by_answer(windows: tuple[Window, ...], before: Receipt | None, item: Receipt) -> Iterator[str]:
    """What the storing of an answer breaks."""
    if item.status is not Status.COMPLETED or item.response is None:
        return
    writer = name_in(item.owner)
    if item.response.status < _REDIRECT and item.outbox is None:
        yield f"{writer} stored a success from which nothing follows: its record and its event are lost"
    window = next(one for one in windows if one.generation == item.generation)
    if before is not None and len(window.owners) > 1 and item.expires_at < before.lease_until:
        yield f"{writer} stored the answer of a resumed request in a window that is over: a retry acts again"


def broken_by_deletion(places: Iterable[Place]) -> Iterator[str]:
    """Nothing but TTL deletes an item."""
    for _, key in places:
        yield f"the item of {key} was deleted: its generation is forgotten"


def broken_by_ttl(item: Receipt, now: int, skew_ms: int) -> Iterator[str]:
    """What TTL's removal of an item at `now` breaks."""
    if now + skew_ms < item.created_at + _KEPT_MS:
        what = "an unfinished claim" if item.status is Status.IN_PROGRESS else "an outbox"
        yield f"{what} was swept away by TTL within 8 days"
