"""Every scenario that is searched: few and small ones in `make test`, all in `make proof`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from handlers.domain.work import WEBHOOKS
from proof.accepting import OTHER_LEAD, accepted, lead, order, outward
from proof.appointments import appointment, appointments
from proof.payments import declined, payment, payments, two_bodies, two_tenants
from proof.webhooks import CHANGED_EVENT, webhook
from proof.working import Pending, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.scenario import Scenario

QUICK: Final[tuple[Callable[[], Scenario], ...]] = (
    partial(payments, 2, 2),
    partial(payments, 2, 2, checkpoint=True),
    partial(two_bodies, 2, 2),
    partial(two_tenants, 2, 1),
    partial(declined, 2, 1),
    partial(accepted, [lead()] * 3, 2),
    partial(accepted, [order(), order(), lead(tenant="brook")], 2),
    partial(accepted, [webhook(), webhook(CHANGED_EVENT)], 2),
    partial(outward, [lead()] * 2, 1),
    partial(outward, [order()] * 2, 1),
    partial(outward, [webhook()], 2),
    partial(outward, [payment()], 2),
    partial(appointments, [appointment("ada"), appointment("bob")], 1),
    partial(appointments, [appointment("ada")] * 2, 1),
    partial(work, 2, 2),
    partial(work, 1, 2, Pending(kind=WEBHOOKS), reconcilers=1),
)
"""What `make test` searches: two attempts and two faults."""

FULL: Final[tuple[Callable[[], Scenario], ...]] = (
    partial(payments, 2, 3),
    partial(payments, 2, 3, checkpoint=True),
    partial(payments, 3, 2),
    partial(payments, 3, 2, checkpoint=True),
    # Within the margin of five seconds that leases have for it.
    partial(payments, 2, 3, skews_ms=(3_000, -2_000)),
    partial(two_bodies, 2, 3),
    partial(two_bodies, 3, 2),
    partial(two_tenants, 2, 3),
    partial(two_tenants, 3, 2),
    partial(declined, 2, 3),
    partial(declined, 3, 2),
    partial(accepted, [lead()] * 2, 3),
    partial(accepted, [lead()] * 3, 2),
    partial(accepted, [lead()] * 2, 3, skews_ms=(3_000, -2_000)),
    partial(accepted, [lead(), lead(), lead(OTHER_LEAD)], 3),
    partial(accepted, [lead(), lead(), lead(tenant="brook")], 3),
    partial(accepted, [order()] * 3, 3),
    partial(accepted, [lead(), order()], 3),
    partial(accepted, [lead(), lead(), order()], 2),
    partial(accepted, [webhook(), webhook(CHANGED_EVENT)], 3),
    partial(accepted, [webhook(), webhook(), webhook(source="shop")], 2),
    partial(accepted, [webhook(), webhook(), webhook(tenant="brook")], 2),
    partial(outward, [lead()] * 2, 3),
    partial(outward, [lead()] * 3, 2),
    partial(outward, [lead()] * 2, 2, twins=2),
    partial(outward, [lead(), lead(OTHER_LEAD)], 3),
    partial(outward, [lead(), lead(tenant="brook")], 2),
    partial(outward, [order()] * 2, 3),
    partial(outward, [order()] * 3, 2),
    partial(outward, [webhook(), webhook(CHANGED_EVENT)], 2),
    partial(outward, [payment()], 3),
    partial(outward, [payment()] * 2, 2),
    partial(appointments, [appointment("ada")] * 2, 3),
    partial(appointments, [appointment("ada")] * 2, 3, skews_ms=(3_000, -2_000)),
    partial(appointments, [appointment("ada"), appointment("bob")], 3),
    partial(appointments, [appointment("ada"), appointment("ada"), appointment("bob")], 2),
    partial(appointments, [appointment("ada"), appointment("ada", reason="a cough")], 3),
    partial(appointments, [appointment("ada"), appointment("ada", tenant="brook")], 2),
    partial(work, 2, 3),
    partial(work, 3, 2, Pending(messages=2)),
    partial(work, 2, 3, Pending(kind=WEBHOOKS)),
    partial(work, 3, 2, Pending(kind=WEBHOOKS, messages=2)),
    partial(work, 2, 3, Pending(max_receives=1)),
    partial(work, 2, 3, Pending(recorded=False, messages=2)),
    partial(work, 1, 3, reconcilers=1),
    partial(work, 2, 2, reconcilers=2),
    partial(work, 2, 2, Pending(messages=2), skews_ms=(3_000, -2_000)),
    # Beyond the margin of a lease: two may be at it at once, which an upsert bears.
    partial(work, 2, 2, Pending(messages=2), skews_ms=(-200_000, 0)),
)
"""What `make proof` searches: two attempts and three faults, three attempts and two."""
