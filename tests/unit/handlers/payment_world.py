"""`execute` over stores and a provider that can fail at any point, on a clock of the test's own.

The store is the fake that tests/contract proves equal to the table (or the table, on moto); the provider is
the local platform's stand-in, which keeps keys as real providers do.
"""

from __future__ import annotations

import io
import itertools
import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aws_lambda_powertools import Logger

from handlers.domain.errors import Unavailable
from handlers.domain.operation import Ports
from handlers.domain.outbound import Answer, AnswerLost, NotSent
from handlers.execute import Dependencies, respond
from handlers.settings import ExecuteSettings
from ops.local.stand_in.answer import Request
from ops.local.stand_in.provider import Provider
from tests.builders import NOW_MS, authorizer_context, lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.fakes.slots import InMemorySlots

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.ports import OwnersOutcome, PutOutcome, ReceiptStore, TakeOverOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt

REMAINING_MS: Final = 28_000
LEASE_MS: Final = REMAINING_MS + 5_000
DAY_MS: Final = 86_400_000
PAYMENT: Final = {"amount": 1999, "currency": "EUR", "paymentMethod": "pm_card", "reference": "order-7"}
ACCOUNT: Final = "pay.example/v1"

Outcome = TypeVar("Outcome")
_NUMBERS = itertools.count()


class Denied(Exception):
    """The provider answers 429, and does nothing."""


class Killed(BaseException):
    """The process is gone: nothing of it runs any more, no handler of exceptions either."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong at the first call of `point`, a write's name or `charge`.

    Kinds: `kill-before`, `kill-after`, `refused` (not reached), `lost` (done, and no answer came), `resent`
    (done, the answer lost, and the SDK asked again: stores only), `denied` (429: the provider only), `before`
    and `after` (`hook` runs then, as it does before an answer is lost).
    """

    point: str
    kind: str
    hook: Callable[[], object] = lambda: None


@dataclass
class Process:
    """One invocation: what it does goes through here, and ends when it is killed."""

    faults: list[Fault]
    killed: bool = False
    calls: list[str] = field(default_factory=list)
    charged_when_released: bool = False

    def do(self, point: str, act: Callable[[], Outcome], refused: Exception, lost: Exception) -> Outcome:
        if self.killed:
            raise Killed
        self.calls.append(point)
        fault = next((fault for fault in self.faults if fault.point == point), None)
        if fault is None:
            return act()
        self.faults.remove(fault)
        self._before(fault, refused)
        outcome = act()
        if fault.kind == "resent":
            return act()
        if fault.kind in {"lost", "after"}:
            fault.hook()
        if fault.kind == "lost":
            raise lost
        if fault.kind == "kill-after":
            self.killed = True
            raise Killed
        return outcome

    def _before(self, fault: Fault, refused: Exception) -> None:
        if fault.kind == "kill-before":
            self.killed = True
            raise Killed
        if fault.kind == "refused":
            raise refused
        if fault.kind == "denied":
            raise Denied
        if fault.kind == "before":
            fault.hook()


class FaultyStore:
    """A receipt store as one process sees it."""

    def __init__(self, world: World, process: Process) -> None:
        self._world, self._inner, self._process = world, world.store, process

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        return self._do("put", lambda: self._inner.put(receipt, claim))

    def take_over(self, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int) -> TakeOverOutcome:
        return self._do("take_over", lambda: self._inner.take_over(lapsed, claim, lease_until, expires_at))

    def checkpoint(self, owned: Receipt, text: str) -> OwnersOutcome:
        return self._do("checkpoint", lambda: self._inner.checkpoint(owned, text))

    def complete(self, owned: Receipt) -> OwnersOutcome:
        return self._do("complete", lambda: self._inner.complete(owned))

    def release(self, owned: Receipt) -> OwnersOutcome:
        def act() -> OwnersOutcome:
            # Until this write nobody else can act; afterwards a duplicate may, which is no lie of this one's.
            self._process.charged_when_released = bool(self._world.charges())
            return self._inner.release(owned)

        return self._do("release", act)

    def _do(self, point: str, act: Callable[[], Outcome]) -> Outcome:
        error = Unavailable("receipts", "ReadTimeoutError")
        return self._process.do(point, act, error, error)


class StandIn:
    """`Outbound` to the provider, as one process sees it. `raw`: what it answers to a charge instead."""

    def __init__(self, world: World, process: Process) -> None:
        self._world, self._process = world, process

    def call(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, timeout_seconds: float
    ) -> Answer:
        assert 0 < timeout_seconds <= REMAINING_MS / 1000
        host, _, target = url.removeprefix("https://").partition("/")
        lower = {name.lower(): value for name, value in headers.items()}
        self._world.timeouts.append(timeout_seconds)
        self._world.sent.append((method, f"/{target}", lower))
        request = Request(method, host, f"/{target}", lower, body)
        try:
            return self._process.do(
                "charge" if method == "POST" else "look_up",
                lambda: self._answer(request),
                NotSent(f"{host}: no connection"),
                AnswerLost(f"{host}: no answer in {timeout_seconds} s"),
            )
        except Denied:
            return Answer(429, {}, b"{}")

    def _answer(self, request: Request) -> Answer:
        if self._world.provider_answers is not None:
            status, document = self._world.provider_answers
        elif request.method == "POST":
            made = self._world.provider.charge(ACCOUNT, request, self._world.charging)
            status, document = made.status, made.body
        else:
            found = self._world.provider.found(ACCOUNT, request.target.rpartition("=")[2])
            status, document = found.status, found.body
        text = document if isinstance(document, bytes) else json.dumps(document).encode()
        return Answer(status, {}, text)


class Secrets:
    """`SecretStore` with the provider's token in it, or without."""

    def __init__(self, *tokens: str) -> None:
        self._tokens = tokens

    def find(self, tenant_id: str, name: str) -> tuple[str, ...]:
        assert (tenant_id, name) == ("acme", "payments/provider")
        return self._tokens


class World:
    """A tenant with a provider, and the processes that serve it one after the other."""

    def __init__(
        self, store: ReceiptStore | None = None, provider: type[Provider] = Provider, **options: Any
    ) -> None:
        self.now = NOW_MS
        self.store: ReceiptStore = InMemoryReceipts() if store is None else store
        self.slots = InMemorySlots()
        self.provider = provider(lambda: self.now / 1000)
        self.charging: Callable[[], object] = lambda: None
        self.provider_answers: tuple[int, Any] | None = None
        self.sent: list[tuple[str, str, dict[str, str]]] = []
        self.timeouts: list[float] = []
        self.tokens: tuple[str, ...] = ()
        self.window_seconds = 86_400
        self.body_limit_bytes = 131_072
        self.operation_settings: dict[str, Any] = {}
        self.context: dict[str, str] = {}
        self.options = {"providerUrl": f"https://{ACCOUNT}", **options}
        self.log = io.StringIO()
        self._logger = Logger(service=f"execute-{next(_NUMBERS)}", level=logging.INFO, stream=self.log)
        self._randomness = itertools.count()
        self.process = Process([])
        self.untrue_502s = 0

    def pay(self, *faults: Fault, key: str = "k", **changes: Any) -> dict[str, Any] | None:
        """What one invocation answers to a payment; None when it was killed."""
        return self.post("/v1/payments", {**PAYMENT, **changes}, key, *faults)

    def post(
        self, resource: str, body: object, key: str | None = None, *faults: Fault
    ) -> dict[str, Any] | None:
        """What one invocation answers; None when it was killed."""
        process = self.process = Process(list(faults))
        event = lead_event(
            body,
            headers={} if key is None else {"idempotency-key": [key]},
            authorizer=authorizer_context(
                operationSettings=self._settings(),
                bodyLimitBytes=str(self.body_limit_bytes),
                **self.context,
            ),
            arrival_ms=self.now,
        ) | {"resource": resource}
        try:
            answer = respond(event, REMAINING_MS, self._dependencies(process))
        except Killed:
            return None
        # 502 says that nothing happened: neither now nor, of a claim that was released, when it was.
        released = "release" in process.calls
        charged = process.charged_when_released if released else bool(self.charges())
        self.untrue_502s += answer["statusCode"] == 502 and charged
        return answer

    def charges(self) -> list[dict[str, Any]]:
        """Every charge that was made."""
        return self.provider.documents()

    def _settings(self) -> str:
        payments = {"windowSeconds": self.window_seconds, "keySource": "header", "options": self.options}
        return json.dumps({"payments": payments, **self.operation_settings})

    def _dependencies(self, process: Process) -> Dependencies:
        return Dependencies(
            settings=ExecuteSettings("local", "receipts", "slots", "/onceward/local/", (), None),
            store=FaultyStore(self, process),
            ports=Ports(StandIn(self, process), self.slots, Secrets(*self.tokens)),
            logger=self._logger,
            clock_ms=lambda: self.now,
            randomness=lambda: f"random-{next(self._randomness)}",
        )


def problem(answer: dict[str, Any] | None) -> tuple[int, str]:
    """Status and slug of a problem."""
    assert answer is not None
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    return answer["statusCode"], json.loads(answer["body"])["type"].rpartition(":")[2]


def created(answer: dict[str, Any] | None) -> dict[str, Any]:
    """The body of a first answer or its replay."""
    assert answer is not None
    assert answer["statusCode"] == 201, answer
    body: dict[str, Any] = json.loads(answer["body"])
    return body


def receipt_in(world: World, key: str = "k") -> Receipt:
    """The receipt as it stands."""
    assert isinstance(world.store, InMemoryReceipts)
    return world.store.items["acme", key]
