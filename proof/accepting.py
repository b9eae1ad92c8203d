"""Scenarios of accept mode: what is taken in by one write, and brought out by `dispatch`."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from proof.dispatching import dispatchers, drains, retrier
from proof.outward import OutwardRules
from proof.over_http import Platform, attempts_at, over_http, skews_of
from proof.payments import settled_at
from proof.provider import Provider
from proof.queues import RetryQueue, SentWork, Topics
from proof.receipts import Receipts
from proof.records import Records
from proof.requests import Sent, executed, ingested
from proof.stream import StreamedReceipts
from proof.webhooks import Webhook, received

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proof.programs import Life
    from proof.scenario import Scenario

_DAY_SECONDS: Final = 86_400
LEAD: Final = {"name": "Ada Lovelace", "email": "ada@analytical.example"}
OTHER_LEAD: Final = LEAD | {"name": "Augusta King"}
ORDER: Final = {
    "customer": "Ada Lovelace",
    "currency": "EUR",
    "items": [{"sku": "A-1", "quantity": 1, "unitPrice": 1999}],
}


def lead(body: dict[str, Any] = LEAD, *, tenant: str = "acme", window_seconds: int = _DAY_SECONDS) -> Sent:
    """A request to `POST /v1/leads` under the key that all attempts share."""
    return Sent("/v1/leads", body, _settings(window_seconds), tenant=tenant)


def order(body: dict[str, Any] = ORDER, *, tenant: str = "acme", window_seconds: int = _DAY_SECONDS) -> Sent:
    """A request to `POST /v1/orders` under the key that all attempts share."""
    return Sent("/v1/orders", body, _settings(window_seconds), tenant=tenant)


def accepted(sent: Sequence[Sent], faults: int, *, skews_ms: Sequence[int] = ()) -> Scenario:
    """An attempt at each of `sent`, and no more; the first workers' clocks are off by `skews_ms`."""
    tried = attempts_at(sent, skews_ms)
    platform = Platform(_served, (Receipts(skews_of(tried)),), lambda seen: seen.now)
    return over_http(f"accept, {_said(sent, skews_ms)}", tried, faults, platform)


def _served(sent: Sent) -> Callable[[Life], dict[str, Any]]:
    if isinstance(sent, Webhook):
        return received(sent)
    return executed(sent) if sent.operation == "payments" else ingested(sent)


def outward(sent: Sequence[Sent], faults: int, *, twins: int = 1) -> Scenario:
    """An attempt at each of `sent`, and what brings it out.

    For the stream (of each tenant: a shard) there are `twins` invocations of `dispatch`, and one
    for the retry queue; when all have ended, stream and queue are emptied and an operator replays.
    """
    ports = (StreamedReceipts(), Records(), Topics(), SentWork(), RetryQueue())
    charging = (Provider(),) if any(one.operation == "payments" for one in sent) else ()
    base = over_http(
        f"outward, {_said(sent, ())}{', twin dispatchers' * (twins > 1)}",
        attempts_at(sent),
        faults,
        Platform(_served, (*ports, *charging), settled_at if charging else lambda seen: seen.now),
    )
    tenants = sorted({one.tenant for one in sent})
    workers = [
        worker
        for number, tenant in enumerate(tenants)
        for worker in dispatchers("KLMNOP"[number * twins :][:twins], tenant if tenants[1:] else None)
    ]
    rules = OutwardRules(  # all but what they judge before a call
        **{
            field.name: getattr(base.rules, field.name)
            for field in fields(OutwardRules)
            if field.name != "judged_before"
        }
    )
    return replace(
        base,
        actors=(*base.actors, *workers, retrier("Q")),
        probes=(*base.probes, *drains()),
        rules=rules,
    )


def _settings(window_seconds: int) -> dict[str, Any]:
    return {"windowSeconds": window_seconds, "keySource": "header", "options": {}}


def _said(sent: Sequence[Sent], skews_ms: Sequence[int]) -> str:
    what = [one.operation for one in sent]
    bodies, tenants = len({str(one.body) for one in sent}), len({one.tenant for one in sent})
    sources = len({one.source for one in sent if isinstance(one, Webhook)})
    parts = [
        " and ".join(sorted(set(what))),
        f"{bodies} bodies" * (bodies > 1),
        f"{tenants} tenants" * (tenants > 1),
        f"{sources} sources" * (sources > 1),
        f"clocks off by {list(skews_ms)} ms" * bool(skews_ms),
    ]
    return ", ".join(part for part in parts if part)
