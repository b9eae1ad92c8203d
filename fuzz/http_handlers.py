"""The five HTTP functions end to end, over stores in memory."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fuzz import http_events
from fuzz.choices import Choices, split
from fuzz.http_answers import check_answer, check_nothing_half_made
from fuzz.json_bodies import BODIES
from fuzz.quiet import logger, quietly
from fuzz.stored import receipt_of
from fuzz.target import Target, require
from handlers import authorizer, execute, ingest, read
from handlers.adapters import receipt_item
from handlers.domain import cloud_event, ids
from handlers.domain.operation import Ports
from handlers.domain.outbound import Answer
from handlers.domain.outbox import delivery_of
from handlers.domain.registry_entry import KeyEntry
from handlers.settings import AuthorizerSettings, ExecuteSettings, IngestSettings, ReadSettings
from tests.builders import HOUR_MS, NOW_MS, receipt
from tests.fakes.receipts import InMemoryReceipts
from tests.fakes.slots import InMemorySlots

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.receipt import Receipt

_ORIGIN = "https://www.acme.example"
_LOGS = {name: logger(name) for name in ("ingest", "execute", "read", "authorizer")}
_REMAINING_MS = 28_000
_PAID = b'{"id":"ch_1","status":"succeeded"}'
_API_KEY = "Zk3vQ9sample0key0value0of0forty0chars000"


@dataclass
class _Provider:
    """A payment provider that always answers alike, and a tenant without secrets."""

    status: int = 201
    body: bytes = _PAID
    calls: int = 0

    def call(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, timeout_seconds: float
    ) -> Answer:
        """See `Outbound.call`."""
        self.calls += 1
        require(url.startswith("https://pay.example/") and timeout_seconds > 0, f"called {method} elsewhere")
        body.decode()
        require(all(value.isascii() for value in headers.values()), "a header that HTTP cannot carry")
        return Answer(self.status, {}, self.body)

    def find(self, tenant_id: str, name: str) -> tuple[str, ...]:
        """See `SecretStore.find`."""
        return (f"secret {name} of {tenant_id}",)


def check_ingest(event: dict[str, Any]) -> dict[str, Any]:
    """Twice the same event to `ingest`; answers the first answer."""
    store, numbers = InMemoryReceipts(), itertools.count()
    dependencies = ingest.Dependencies(
        settings=IngestSettings("local", "receipts", (_ORIGIN,)),
        store=store,
        logger=_LOGS["ingest"],
        clock_ms=lambda: NOW_MS,
        randomness=lambda: f"random-{next(numbers)}",
    )
    with quietly():
        first, again = (ingest.ingest(event, dependencies) for _ in range(2))
    check_answer(first)
    check_nothing_half_made(first, again, store.items.values())
    for each in store.items.values():
        check_deliverable(each)
    return first


def check_execute(event: dict[str, Any], provider: _Provider | None = None) -> dict[str, Any]:
    """Twice the same event to `execute`; answers the first answer."""
    store, numbers = InMemoryReceipts(), itertools.count()
    outbound = provider or _Provider()
    dependencies = execute.Dependencies(
        settings=ExecuteSettings("local", "receipts", "slots", "/onceward/local/", (), None),
        store=store,
        ports=Ports(outbound, InMemorySlots(), outbound),
        logger=_LOGS["execute"],
        clock_ms=lambda: NOW_MS,
        randomness=lambda: f"random-{next(numbers)}",
    )
    with quietly():
        first = execute.respond(event, _REMAINING_MS, dependencies)
        calls = outbound.calls
        again = execute.respond(event, _REMAINING_MS, dependencies)
    check_answer(first, outage=provider is not None)
    if provider is None:
        check_nothing_half_made(first, again, store.items.values())
        require(calls <= 1 and outbound.calls == calls, "charged again for a duplicate")
    for each in store.items.values():
        if each.outbox is not None:
            check_deliverable(each)
    return first


def check_deliverable(kept: Receipt) -> None:
    """What was accepted can be stored, read and delivered."""
    item = receipt_item.to_item(kept)
    json.dumps(item, ensure_ascii=False).encode()
    require(receipt_of(item) == kept, "a receipt is not read as it was written")
    cloud_event.encode(delivery_of(kept), "local")


@dataclass
class _Shelves:
    """One old lead and its receipt."""

    now: int = NOW_MS
    lead: str = field(default_factory=lambda: ids.record_id("acme", "k", "g", NOW_MS - HOUR_MS))

    def document(self, tenant_id: str, operation: str, record_id: str) -> str | None:
        """See `read.Records`."""
        record_id.encode("ascii")
        return "{}" if (tenant_id, operation, record_id) == ("acme", "leads", self.lead) else None

    def find(self, tenant_id: str, key: str) -> Receipt | None:
        """See `read.Receipts`."""
        key.encode("ascii")
        require(
            0 < len(key) <= 255 and not key.startswith(" "), "a key was looked up that no header can carry"
        )
        return receipt() if (tenant_id, key) == ("acme", "k") else None

    def sleep(self, pause_ms: int) -> None:
        """Time goes by."""
        require(pause_ms > 0, "waits for ever")
        self.now += pause_ms


def check_read(event: dict[str, Any]) -> dict[str, Any]:
    """One event to `read`; it waits at most its patience."""
    shelves = _Shelves()
    dependencies = read.Dependencies(
        ReadSettings("dev", "receipts", "records", (_ORIGIN,)),
        shelves,
        shelves,
        _LOGS["read"],
        lambda: shelves.now,
        shelves.sleep,
    )
    with quietly():
        answer = read.read(event, dependencies)
    check_answer(answer)
    require(shelves.now - NOW_MS <= 2_000, "waited longer than its patience")
    return answer


class _Registry:
    def find(self, api_key: str) -> KeyEntry | None:
        """See `authorizer.Registry`."""
        require(api_key, "an empty key was looked up")
        if api_key != _API_KEY:
            return None
        return KeyEntry("acme", "web", "active", "pro", ("leads:create",), (), 65536, "{}")


def check_authorizer(event: dict[str, Any]) -> bool | None:
    """One event to the authorizer: whether it lets in; None for a 401. Only the one key is let in."""
    dependencies = authorizer.Dependencies(
        AuthorizerSettings("dev", "tenants"), _Registry(), _LOGS["authorizer"]
    )
    try:
        with quietly():
            policy = authorizer.authorize(event, dependencies)
    except authorizer.UnauthorizedError as error:
        require(str(error) == "Unauthorized", "the gateway would answer 500")
        return None
    json.dumps(policy, ensure_ascii=False, allow_nan=False).encode()
    (statement,) = policy["policyDocument"]["Statement"]
    allowed: bool = statement["Effect"] == "Allow"
    sent = {
        value
        for name, values in (event.get("multiValueHeaders") or _as_multiple(event.get("headers"))).items()
        for value in values or ()
        if name.lower() == "x-api-key" and value
    }
    require(allowed == (sent == {_API_KEY}), "another key was let in, or the right one was not")
    require(
        all(isinstance(value, str) for value in policy.get("context", {}).values()), "a context of no text"
    )
    return allowed


def _as_multiple(headers: Mapping[str, Any] | None) -> dict[str, list[Any]]:
    return {name: [value] for name, value in (headers or {}).items()}


def _check_ingest(data: bytes) -> None:
    choices, body = split(data)
    check_ingest(http_events.post(choices, choices.pick(("/v1/leads", "/v1/orders", "/v1/x", "")), body))


def _check_execute(data: bytes) -> None:
    choices, body = split(data)
    check_execute(http_events.post(choices, choices.pick(("/v1/appointments", "/v1/payments", "")), body))


def _check_provider(data: bytes) -> None:
    choices, answered = split(data)
    provider = _Provider(
        choices.pick((200, 201, 202, 204, 302, 400, 402, 404, 409, 422, 429, 500, 503)), answered
    )
    event = http_events.post(Choices(b""), "/v1/payments", json.dumps(BODIES["payments"]).encode())
    event["multiValueHeaders"]["idempotency-key"] = ["k"]
    answer = check_execute(event, provider)
    require(answer["statusCode"] in (201, 402, 409, 502, 503, 504), "a provider's answer broke us")


def _check_read(data: bytes) -> None:
    choices, parameter = split(data)
    resource = choices.pick(tuple(read.OPERATIONS))
    name = "key" if "receipts" in resource else "id"
    sent = (name, parameter.decode("utf-8", "surrogateescape"))
    check_read(http_events.get(choices, resource, sent))


def _check_authorizer(data: bytes) -> None:
    choices, key = split(data)
    sent = {choices.pick(("x-api-key", "X-API-Key", "other")): [key.decode("utf-8", "surrogateescape")]}
    check_authorizer(http_events.key_request(choices, sent))


def _bodies(*names: str) -> list[bytes]:
    return [bytes([index]) + b"\n" + json.dumps(BODIES[name]).encode() for index, name in enumerate(names)]


INGEST = Target("ingest", _check_ingest, lambda: _bodies("leads", "orders"))
EXECUTE = Target("execute", _check_execute, lambda: _bodies("appointments", "payments"))
PROVIDER = Target(
    "provider", _check_provider, lambda: [b"\n" + _PAID, b"\x05\n{}", b"\x06\n" + _PAID, b"\n["]
)
READ = Target(
    "read",
    _check_read,
    lambda: [
        *(
            b"\n" + ids.record_id("acme", "k", "g", made).encode()
            for made in (NOW_MS - HOUR_MS, NOW_MS - 100)
        ),
        *(b"\x05\nk", b"\x05\n%22k%22", b"\x05\na%2Fb"),
    ],
)
AUTHORIZER = Target(
    "authorizer", _check_authorizer, lambda: [b"\n" + _API_KEY.encode(), b"\n", b"\x01\nother"]
)
