"""Scenarios of payments: claim, charge, checkpoint, complete, by attempts that crash, stall and come late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from handlers.domain.receipt import Status
from proof.over_http import Attempt, Platform, attempts_at, over_http, skews_of
from proof.provider import HONOURS_MS, SETTLE_MS, Provider
from proof.receipt_changes import LIVES_MS
from proof.receipts import Receipts, leases_over
from proof.requests import OTHER_PAYMENT, PAYMENT, Sent, executed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proof.receipts import Table
    from proof.scenario import Scenario, Seen

_DAY_SECONDS: Final = 86_400


def payment(
    body: dict[str, Any] = PAYMENT,
    *,
    checkpoint: bool = False,
    tenant: str = "acme",
    window_seconds: int = _DAY_SECONDS,
) -> Sent:
    """A request to `POST /v1/payments` under the key that all attempts share."""
    options = {"providerUrl": "https://pay.example/v1", "checkpoint": checkpoint}
    settings = {"windowSeconds": window_seconds, "keySource": "header", "options": options}
    return Sent("/v1/payments", body, settings, tenant=tenant)


def payments(
    attempts: int,
    faults: int,
    *,
    checkpoint: bool = False,
    skews_ms: Sequence[int] = (),
    window_seconds: int = _DAY_SECONDS,
) -> Scenario:
    """`attempts` of one payment; the first workers' clocks are off by `skews_ms`."""
    sent = payment(checkpoint=checkpoint, window_seconds=window_seconds)
    said = (
        f"payments{', checkpoint' * checkpoint}"
        f"{f', a window of {window_seconds} s' * (window_seconds != _DAY_SECONDS)}"
    )
    return sending(said, [sent] * attempts, faults, skews_ms)


def two_bodies(
    attempts: int, faults: int, *, skews_ms: Sequence[int] = (), window_seconds: int = _DAY_SECONDS
) -> Scenario:
    """`attempts` under one key, the last of which is another payment."""
    bodies = [*[PAYMENT] * (attempts - 1), OTHER_PAYMENT]
    sent = [payment(body, window_seconds=window_seconds) for body in bodies]
    return sending("payments, two bodies", sent, faults, skews_ms)


def sending(said: str, sent: Sequence[Sent], faults: int, skews_ms: Sequence[int] = ()) -> Scenario:
    """An attempt at each of `sent`; the first workers' clocks are off by `skews_ms`."""
    tried = attempts_at(sent, skews_ms)
    off = f", clocks off by {list(skews_ms)} ms" * bool(skews_ms)
    return over_http(said + off, tried, faults, platform(tried))


def two_tenants(attempts: int, faults: int) -> Scenario:
    """Two tenants with one key and one body, nothing to each other; the last attempt is of the second."""
    sent = [*[payment()] * (attempts - 1), payment(tenant="brook")]
    return sending("payments, two tenants", sent, faults)


def declined(attempts: int, faults: int) -> Scenario:
    """`attempts` of one payment, which the provider declines."""
    tried = attempts_at([payment()] * attempts)
    served = Platform(executed, (Receipts(), Provider(declines=True)), settled_at)
    return over_http("payments, declined", tried, faults, served)


def settled_at(seen: Seen) -> int:
    """After every lease; and where the provider may have forgotten a key, after all that it may still do."""
    at = leases_over(seen)
    table: Table = seen.ports["receipts"]
    # Oldest first: waiting for one may be what makes a wait for the next one needed.
    for item in sorted((item for _, item in table.items), key=lambda one: one.created_at):
        forgotten = item.created_at + HONOURS_MS
        if item.status is Status.IN_PROGRESS and at + LIVES_MS + 1 > forgotten:
            at = max(at, forgotten + SETTLE_MS)
    return at


def platform(tried: Sequence[Attempt]) -> Platform:
    """The handler as it is, over the contract-proved fake and a provider that honours keys for a day."""
    return Platform(executed, (Receipts(skews_of(tried)), Provider()), settled_at)
