"""What payments, appointments and orders ask of DynamoDB, counted at the wire; and a lost answer there."""

from __future__ import annotations

import json
import logging
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from aws_lambda_powertools import Logger

from bench.contenders import connect, make_table
from bench.wire import Wire, tapped
from handlers import execute, ingest
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.adapters.slots import DynamoDbSlots
from handlers.domain.operation import Ports
from handlers.domain.outbound import Answer
from handlers.settings import ExecuteSettings, IngestSettings
from ops.local.emulator import Emulator
from tests.builders import authorizer_context, lead_event
from tests.unit.handlers.payment_world import PAYMENT, REMAINING_MS, Secrets
from tests.unit.handlers.test_appointments import BODY as APPOINTMENT
from tests.unit.handlers.test_orders import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.platform

REGION = "us-east-1"


class Provider:
    """`Outbound` to a provider that always charges."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def call(self, *call: Any, timeout_seconds: float) -> Answer:
        self.keys.append(call[2]["Idempotency-Key"])
        return Answer(201, {}, json.dumps({"id": "ch_1", "status": "succeeded"}).encode())


class Tapped:
    """`execute` and `ingest` over tables of the local AWS, with a proxy between."""

    def __init__(self, wire: Wire, client: Any) -> None:
        self.wire, self.provider = wire, Provider()
        receipts, slots = make_table(client, "pk"), make_table(client, "pk")
        common: dict[str, Any] = {
            "store": DynamoDbReceipts(receipts, client),
            "logger": Logger(service="execute-wire", level=logging.CRITICAL),
            "clock_ms": lambda: time.time_ns() // 1_000_000,
            "randomness": lambda: uuid.uuid4().hex,
        }
        self._execute = execute.Dependencies(
            settings=ExecuteSettings("local", receipts, slots, "/onceward/local/", (), None),
            ports=Ports(self.provider, DynamoDbSlots(slots, client), Secrets()),
            **common,
        )
        self._ingest = ingest.Dependencies(settings=IngestSettings("local", receipts, ()), **common)
        wire.take()

    def post(self, operation: str, body: object, *, checkpoint: bool = False) -> dict[str, Any]:
        options = {"providerUrl": "https://pay.example", "checkpoint": checkpoint}
        settings = {"payments": {"windowSeconds": 60, "keySource": "header", "options": options}}
        event = lead_event(
            body,
            headers={"idempotency-key": [f"{operation}-{checkpoint}"]},
            authorizer=authorizer_context(operationSettings=json.dumps(settings)),
            arrival_ms=time.time_ns() // 1_000_000,
        ) | {"resource": f"/v1/{operation}"}
        if operation == "orders":
            return ingest.ingest(event, self._ingest)
        return execute.respond(event, REMAINING_MS, self._execute)


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    emulator = Emulator(tmp_path_factory.mktemp("wire"), REGION)
    yield emulator.start()
    emulator.stop()


@pytest.fixture
def at_the_wire(emulator: Any) -> Iterator[Tapped]:
    with tapped(emulator.url) as wire:
        yield Tapped(wire, connect(wire.url, emulator.access_key_id, emulator.secret_access_key, REGION))


@pytest.mark.parametrize(
    ("operation", "body", "checkpoint", "fresh"),
    [
        ("payments", PAYMENT, False, ["PutItem", "UpdateItem"]),
        ("payments", PAYMENT, True, ["PutItem", "UpdateItem", "UpdateItem"]),
        ("appointments", APPOINTMENT, False, ["PutItem", "PutItem", "UpdateItem"]),
        ("orders", ORDER, False, ["PutItem"]),
    ],
)
def test_a_fresh_request_and_a_duplicate_cost_what_the_readme_says_and_nothing_is_read(
    at_the_wire: Tapped, operation: str, body: object, checkpoint: bool, fresh: list[str]
) -> None:
    first = at_the_wire.post(operation, body, checkpoint=checkpoint)
    assert first["statusCode"] in (201, 202)
    assert at_the_wire.wire.take() == fresh
    for _ in range(3):
        again = at_the_wire.post(operation, body, checkpoint=checkpoint)
        assert (again["body"], again["headers"]["Idempotent-Replayed"]) == (first["body"], "true")
        assert at_the_wire.wire.take() == ["PutItem"]


@pytest.mark.parametrize("operation", ["payments", "appointments"])
def test_a_lost_answer_of_the_claim_is_recognised_as_an_own_write(
    at_the_wire: Tapped, operation: str
) -> None:
    body = PAYMENT if operation == "payments" else APPOINTMENT
    at_the_wire.wire.answers_to_lose = 1
    answer = at_the_wire.post(operation, body)
    assert (answer["statusCode"], "Idempotent-Replayed" in answer["headers"]) == (201, False)
    assert at_the_wire.wire.take()[:2] == ["PutItem", "PutItem"]
    assert at_the_wire.post(operation, body)["body"] == answer["body"]


def test_when_every_answer_of_the_claim_is_lost_it_is_503_and_the_claim_stands(
    at_the_wire: Tapped,
) -> None:
    at_the_wire.wire.answers_to_lose = 2
    assert at_the_wire.post("payments", PAYMENT)["statusCode"] == 503
    running = at_the_wire.post("payments", PAYMENT)
    assert running["statusCode"] == 409
    assert 1 <= int(running["headers"]["Retry-After"]) <= (REMAINING_MS + 5_000) / 1000
    assert at_the_wire.provider.keys == []
