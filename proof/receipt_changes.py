"""What a change of a receipt may never be, whoever makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handlers.domain.protocol import Claim
from handlers.domain.receipt import MIN_KEPT_SECONDS, Status
from proof.programs import name_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from handlers.domain.receipt import Receipt
    from proof.programs import Call
    from proof.receipts import Place, Window

_MS = 1000
_REDIRECT = 300


@dataclass(frozen=True)
class Change:
    """An item was changed from `before` to `item` by `call`, at `now`."""

    before: Receipt | None
    item: Receipt
    call: Call
    now: int
    skew_ms: int

    def broken(self) -> Iterator[str]:
        """What this change breaks."""
        before, item = self.before, self.item
        claimed = isinstance(self._claim, Claim) and item.status is Status.IN_PROGRESS
        if claimed and item.lease_until < self._claim.clock_ms:
            yield f"{self._writer} claimed without a lease: nobody waits until it has finished"
        if before is None:
            return
        if item.generation != before.generation:
            yield from self._opened(before)
        elif before.status is Status.COMPLETED:
            yield f"{self._writer} changed a stored answer inside its window"
        elif self.call.name == "take_over":
            yield from self._taken_over(before)
        elif self._writer != name_in(before.owner):
            owner = name_in(before.owner)
            yield f"{self._writer} wrote ({self.call.name}) after it had lost its lease to {owner}"

    @property
    def _writer(self) -> str:
        return name_in(self.call.arguments[0].owner)

    @property
    def _claim(self) -> Any:  # noqa: ANN401 - a Claim, where the call has one
        return self.call.arguments[1] if len(self.call.arguments) > 1 else None

    def _opened(self, before: Receipt) -> Iterator[str]:
        """Another window was opened. Judged by the gateway's clock, too: the code may say what it likes."""
        writer = name_in(self.item.owner)
        if self.call.name == "take_over":
            yield f"{writer} took over under a new generation: what the old one did is forgotten"
        elif before.expires_at > min(self._claim.arrival_ms, self.now):
            yield f"{writer} opened a second window inside the first"
        elif before.status is Status.IN_PROGRESS and before.fingerprint == self.item.fingerprint:
            yield f"{writer} overwrote an unfinished claim of its own request, which may have acted"
        elif before.status is Status.IN_PROGRESS and before.lease_until >= self._claim.clock_ms:
            yield f"{writer} overwrote a claim whose owner was running"

    def _taken_over(self, before: Receipt) -> Iterator[str]:
        owner, taker = name_in(before.owner), name_in(self.item.owner)
        if self._writer != owner:
            yield f"{taker} took the claim of {owner} over for that of {self._writer}, who had lost it"
        elif before.lease_until > self.now + self.skew_ms:
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
    if now + skew_ms < item.created_at + MIN_KEPT_SECONDS * _MS:
        what = "an unfinished claim" if item.status is Status.IN_PROGRESS else "an outbox"
        yield f"{what} was swept away by TTL within 8 days"
