"""The slots table under the scheduler: the contract-proved fake, and that no booking is ever changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proof.aws import AwsPort
from proof.ports import Applied
from tests.fakes.slots import InMemorySlots

if TYPE_CHECKING:
    from handlers.domain.operation import Booking
    from proof.programs import Ask, Call

# Tenant and slot.
Place = tuple[str, str]
Bookings = tuple[tuple[Place, "Booking"], ...]


class AskingSlots:
    """`SlotStore` for a program."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def take(self, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
        """See `SlotStore`."""
        there: Booking | None = self._ask("slots", "take", tenant_id, slot, booking)
        return there


class Slots(AwsPort):
    """The port; its state is the bookings."""

    name = "slots"

    def initial(self) -> Bookings:
        """See `Port`."""
        return ()

    def apply(self, state: Bookings, call: Call, now: int) -> Applied:
        """See `Port`."""
        del now
        store = InMemorySlots()
        store.taken = dict(state)
        result = getattr(store, call.name)(*call.arguments)
        broken = [
            f"a slot of {place[0]} is booked for another now: two patients have one slot"
            for place, booking in state
            if store.taken.get(place) != booking
        ]
        return Applied(tuple(sorted(store.taken.items(), key=lambda one: one[0])), result, tuple(broken))
