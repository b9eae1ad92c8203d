"""The records table under the scheduler: the contract-proved fake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from handlers.domain.outbox import DispatchConflict
from proof.aws import AwsPort
from proof.ports import Applied
from proof.programs import Raised
from tests.fakes.records import InMemoryRecords

if TYPE_CHECKING:
    from handlers.domain.outbox import Delivery
    from handlers.domain.pending import Page, PendingWork
    from handlers.domain.work_item import ClaimOutcome, WorkClaim
    from proof.programs import Ask, Call
    from tests.fakes.work import Stored

Place = tuple[str, str]


@dataclass(frozen=True)
class Kept:
    """The records that stand, by tenant and id: those with work, and those without."""

    working: tuple[tuple[Place, Stored], ...] = ()
    plain: tuple[tuple[Place, Delivery], ...] = ()

    def deliveries(self) -> dict[Place, Delivery]:
        """What each record was written for."""
        return dict(self.plain) | {place: stored.item.delivery for place, stored in self.working}


class AskingRecords:
    """`dispatch.Records`, `WorkStore` and `PendingIndex` for a program."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def write(self, delivery: Delivery) -> str | None:
        """See `dispatch.Records`."""
        status: str | None = self._ask("records", "write", delivery)
        return status

    def claim(self, claim: WorkClaim) -> ClaimOutcome:
        """See `WorkStore`."""
        outcome: ClaimOutcome = self._ask("records", "claim", claim)
        return outcome

    def finish(self, claim: WorkClaim, now_ms: int) -> bool:
        """See `WorkStore`."""
        return bool(self._ask("records", "finish", claim, now_ms))

    def fail(self, claim: WorkClaim, now_ms: int, *, final: bool) -> None:
        """See `WorkStore`."""
        self._ask("records", "fail", claim, now_ms, final)

    def page(self, shard: str, start: object | None) -> Page:
        """See `PendingIndex`."""
        page: Page = self._ask("records", "page", shard, start)
        return page

    def mark_requeued(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
        """See `PendingIndex`."""
        return bool(self._ask("records", "mark_requeued", work, now_ms, quiet_since_ms))

    def give_up(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
        """See `PendingIndex`."""
        return bool(self._ask("records", "give_up", work, now_ms, quiet_since_ms))


class Records(AwsPort):
    """The port; its state is what is `Kept`."""

    name = "records"
    certain = frozenset({"look"})

    def __init__(self, kept: Kept | None = None) -> None:
        """`kept`: what stands in the beginning."""
        self._kept = kept or Kept()

    def initial(self) -> Kept:
        """See `Port`."""
        return self._kept

    def apply(self, state: Kept, call: Call, now: int) -> Applied:
        """See `Port`."""
        if call.name == "look":  # an operator's: which of these places have their record
            kept = state.deliveries()
            return Applied(state, tuple(place for place in call.arguments[0] if place in kept))
        store = InMemoryRecords(lambda: now)
        store.records, store.plain = dict(state.working), dict(state.plain)
        *positional, last = call.arguments
        arguments, named = (positional, {"final": last}) if call.name == "fail" else (call.arguments, {})
        try:
            result = getattr(store, call.name)(*arguments, **named)
        except DispatchConflict as error:
            result = Raised(DispatchConflict, error.args)
        kept_now = Kept(
            tuple(sorted(store.records.items(), key=_place)), tuple(sorted(store.plain.items(), key=_place))
        )
        return Applied(kept_now, result)


def _place(one: tuple[Place, object]) -> Place:
    return one[0]
