"""What can become of a request: each function behind the API, over the worlds of its own tests."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from moto import mock_aws

from handlers import execute, ingest
from handlers.domain.errors import Unavailable
from handlers.domain.receipt import Status
from handlers.operations.leads import LEADS
from handlers.operations.payments import PAYMENTS
from tests.builders import LEAD, NOW_MS, authorizer_context, in_progress, lead_event, receipt
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers import ingest_calls, read_world, webhook_world
from tests.unit.handlers.authorizer_desk import Desk, key_item, request_event
from tests.unit.handlers.ingest_calls import post
from tests.unit.handlers.payment_world import LEASE_MS, Fault, World

if TYPE_CHECKING:
    from handlers.domain.ports import PutOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt

# More than a receipt has room for, twice.
_LARGE = 205_000
_BOOKING = {"doctorId": "dr-grey", "patientId": "p-1", "startsAt": "2031-01-01T10:00:00+01:00"}


class Down(InMemoryReceipts):
    """A table that does not answer."""

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        raise Unavailable("receipts", "ThrottlingException")


def run_authorizer(detailed: bool) -> str:
    """A key that is good, unknown, suspended, missing; a registry whose entry is broken."""
    with mock_aws():
        desk = Desk()
        desk.ask()
        desk.put(key_item(**({"metrics": {"S": "detailed"}} if detailed else {})))
        desk.ask()
        desk.put(key_item(status={"S": "suspended"}))
        desk.ask()
        desk.put(key_item(status={"S": "neither"}))
        for event in (request_event(), request_event(None)):
            # Both are what the gateway is told: 503 and 401.
            with contextlib.suppress(Exception):
                desk.ask(event)
        return desk.log.getvalue()


def run_ingest(detailed: bool) -> str:
    """Accepted, replayed, mismatch, rejected, failed, abandoned, too large to keep."""
    context = _context(detailed)

    def lead(key: str, body: object = LEAD, **more: Any) -> dict[str, Any]:
        return lead_event(body, headers={"idempotency-key": [key]}, authorizer=context, **more)

    store = InMemoryReceipts()
    # Somebody's claim of another request, long over, that nobody has finished.
    lapsed = in_progress(key="old", operation="payments", lease_until=1, expires_at=NOW_MS - 1)
    store.items["acme", "old"] = lapsed
    for event in (
        lead("k"),
        lead("k"),
        lead("k", LEAD | {"name": "Another"}),
        lead("k2", raw="{"),
        lead("old"),
    ):
        post(store, event)
    wordy = replace(LEADS, derive=lambda _: {"score": {"why": "w" * _LARGE}})
    with patch.object(ingest, "BY_RESOURCE", {"/v1/leads": wordy}):
        post(store, lead("large"))
    log = ingest_calls.LOG.getvalue()
    post(Down(), lead("k"))
    return log + ingest_calls.LOG.getvalue()


def run_execute(detailed: bool) -> str:
    """Everything that can become of a payment."""
    worlds = [
        *(_world(detailed) for _ in range(6)),
        _world(detailed, lookup=False),
        _world(detailed, checkpoint=True),
        _world(detailed, honoursSeconds=60),
    ]
    plain, lost, failing, declined, old, wordy, forgotten, overtaken, several = worlds
    plain.pay()
    plain.pay()
    plain.pay(amount=1)
    plain.pay(amount=-1)
    plain.post("/v1/appointments", _BOOKING)
    lost.pay(Fault("charge", "lost"))
    lost.pay()
    lost.pay(Fault("charge", "kill-after"), key="running")
    lost.pay(key="running")
    failing.pay(Fault("charge", "refused"))
    failing.pay(Fault("put", "refused"), key="k2")
    declined.provider_answers = (402, {"error": "card_declined"})
    declined.pay()
    _abandon(old)
    with patch.object(execute, "BY_RESOURCE", {"/v1/payments": _verbose()}):
        wordy.pay()
    forgotten.pay(Fault("charge", "lost"))
    forgotten.now += 2 * 86_400_000
    forgotten.pay()
    _overtake(overtaken)
    _charge_several(several)
    return "".join(world.log.getvalue() for world in worlds)


def run_webhooks(detailed: bool) -> str:
    """Accepted, replayed (with another body too), rejected, unauthorized, failed."""
    with mock_aws():
        world = webhook_world.World()
        if detailed:
            world.dynamodb.update_item(
                TableName="tenants",
                Key={"pk": {"S": "tenant#acme"}},
                UpdateExpression="SET #metrics = :detailed",
                ExpressionAttributeNames={"#metrics": "metrics"},
                ExpressionAttributeValues={":detailed": {"S": "detailed"}},
            )
        world.post()
        world.post()
        world.post(webhook_world.EVENT | {"type": "another"})
        world.post(raw=b"{")
        world.post(headers={"authorization": ["Bearer wrong"]})
        said = world.logged()
        world.begin(Down())
        world.post()
        return "\n".join(json.dumps(line) for line in said + world.logged())


def run_read(detailed: bool) -> str:
    """A receipt that is there, one that is not, and a table that does not answer."""
    world = read_world.World(receipts={("acme", "k"): receipt()})
    context = _context(detailed)
    world.get(read_world.key("k", authorizer=context))
    world.get(read_world.key("other", authorizer=context))
    world.error = Unavailable("receipts", "ReadTimeoutError")
    world.get(read_world.key("k", authorizer=context))
    return world.log.getvalue()


def _context(detailed: bool) -> dict[str, str]:
    return authorizer_context(**({"metrics": "detailed"} if detailed else {}))


def _world(detailed: bool, **options: Any) -> World:
    world = World(**options)
    world.context = {"metrics": "detailed"} if detailed else {}
    return world


def _verbose() -> Any:
    """Payments whose answer repeats more than a receipt has room for."""
    return replace(PAYMENTS, bind=lambda _ports: _Wordy())


class _Wordy:
    def __call__(self, attempt: Any) -> Any:
        from handlers.domain.effect import Effected

        return Effected({"chargeId": "c" * _LARGE, "status": "succeeded"})


def _abandon(world: World) -> None:
    """A payment in the place of another's claim, long over, that nobody has finished."""
    assert isinstance(world.store, InMemoryReceipts)
    world.pay(Fault("charge", "kill-after"))
    ((place, claim),) = world.store.items.items()
    world.now += 2 * 86_400_000
    assert claim.status is Status.IN_PROGRESS
    world.store.items[place] = replace(claim, fingerprint="f" * 64)
    world.pay()


def _overtake(world: World) -> None:
    """A successor that was faster, and a charge of which nothing tells."""

    def successor() -> None:
        process = world.process
        world.now += LEASE_MS
        world.pay()
        world.process = process

    world.pay(Fault("charge", "before", successor))
    assert isinstance(world.store, InMemoryReceipts)
    world.pay(Fault("complete", "before", world.store.items.clear), key="evicted")


def _charge_several(world: World) -> None:
    """A provider that knows two charges under one key."""
    world.pay(Fault("charge", "lost"))
    (charge,) = world.charges()
    world.now += 60_000 + 600_000
    world.provider_answers = (200, {"charges": [charge, charge | {"id": "ch_again"}]})
    world.pay()
