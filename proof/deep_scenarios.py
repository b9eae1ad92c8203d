"""Scenarios that are too large to be searched: they are walked at random."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from handlers.domain.work import WEBHOOKS
from proof.accepting import OTHER_LEAD, lead, order, outward
from proof.appointments import appointment, appointments
from proof.over_http import Attempt, over_http
from proof.payments import payment, platform
from proof.requests import OTHER_PAYMENT
from proof.working import Pending, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.scenario import Scenario

_FAULTS: Final = 40
"""More than a walk has steps for."""
_SKEWS_MS: Final = (3_000, -2_000)


def mixed_payments(*, checkpoint: bool) -> Scenario:
    """Four attempts at one payment, one at another under the same key, and one of another tenant."""
    first, brook = payment(checkpoint=checkpoint), payment(checkpoint=checkpoint, tenant="brook")
    other = payment(OTHER_PAYMENT, checkpoint=checkpoint)
    skews = dict(zip("AB", _SKEWS_MS, strict=True))
    sent = dict(zip("ABCDEF", (first, first, first, first, other, brook), strict=True))
    attempts = [Attempt(name, one, skews.get(name, 0)) for name, one in sent.items()]
    said = f"payments{', checkpoint' * checkpoint}, mixed"
    return over_http(said, attempts, _FAULTS, platform(attempts))


_ADA, _BOB = appointment("ada"), appointment("bob")

DEEP: Final[tuple[Callable[[], Scenario], ...]] = (
    partial(mixed_payments, checkpoint=False),
    partial(mixed_payments, checkpoint=True),
    partial(outward, [lead()] * 3 + [lead(OTHER_LEAD), lead(tenant="brook")], _FAULTS, twins=2),
    partial(outward, [order()] * 3 + [order(tenant="brook")], _FAULTS, twins=2),
    partial(
        appointments,
        [_ADA, _BOB, _ADA, appointment("ada", reason="a cough"), appointment("ada", tenant="brook"), _BOB],
        _FAULTS,
        skews_ms=_SKEWS_MS,
    ),
    partial(work, 5, _FAULTS, Pending(messages=2), reconcilers=3, skews_ms=_SKEWS_MS),
    partial(work, 4, _FAULTS, Pending(kind=WEBHOOKS, max_receives=2), reconcilers=3),
    partial(work, 4, _FAULTS, Pending(messages=2), reconcilers=2, skews_ms=(-200_000, 0, 60_000)),
)
"""Four to six attempts of every family, with other bodies, tenants and clocks among them."""
