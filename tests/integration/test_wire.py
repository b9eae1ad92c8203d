"""What `ingest` asks of DynamoDB, counted at the wire, and what happens when an answer is lost there."""

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
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.ingest import Dependencies, ingest
from handlers.settings import IngestSettings
from ops.local.emulator import Emulator
from tests.builders import LEAD, lead_event
from tests.item_size import item_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.platform

REGION = "us-east-1"
KIB = 1024


class Tapped:
    """`ingest` over a table of the local AWS, with a proxy between."""

    def __init__(self, wire: Wire, client: DynamoDBClient) -> None:
        self.wire = wire
        self.units: list[float] = []
        self.client = client
        self.table = make_table(client, "pk")
        client.meta.events.register("before-parameter-build.dynamodb.PutItem", self._ask_for_units)
        client.meta.events.register("after-call.dynamodb.PutItem", self._note_units)
        self._dependencies = Dependencies(
            settings=IngestSettings(stage="local", receipts_table=self.table, cors_origins=()),
            store=DynamoDbReceipts(self.table, client),
            logger=Logger(service="ingest-wire", level=logging.CRITICAL),
            clock_ms=lambda: time.time_ns() // 1_000_000,
            randomness=lambda: uuid.uuid4().hex,
        )
        wire.take()

    def post(self, key: str, body: object = None) -> dict[str, Any]:
        now = time.time_ns() // 1_000_000
        return ingest(
            lead_event(body, headers={"idempotency-key": [key]}, arrival_ms=now), self._dependencies
        )

    def _ask_for_units(self, params: dict[str, Any], **_: object) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"

    def _note_units(self, parsed: dict[str, Any], **_: object) -> None:
        if "ConsumedCapacity" in parsed:
            self.units.append(parsed["ConsumedCapacity"]["CapacityUnits"])


@pytest.fixture(scope="module")
def emulator_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    emulator = Emulator(tmp_path_factory.mktemp("wire"), REGION)
    endpoint = emulator.start()
    yield endpoint.url, endpoint.access_key_id, endpoint.secret_access_key
    emulator.stop()


@pytest.fixture
def ingest_at_the_wire(emulator_url: tuple[str, str, str]) -> Iterator[Tapped]:
    url, key_id, secret = emulator_url
    with tapped(url) as wire:
        yield Tapped(wire, connect(wire.url, key_id, secret, REGION))


def lead_of(size: int) -> dict[str, object]:
    """A lead whose body has `size` bytes as JSON."""
    padding = size - len(json.dumps(LEAD | {"message": ""}))
    return {**LEAD, "message": "m" * padding}


def test_a_fresh_lead_is_one_put_and_a_duplicate_is_one_put_and_none_is_a_read(
    ingest_at_the_wire: Tapped,
) -> None:
    assert ingest_at_the_wire.post("k")["statusCode"] == 201
    assert ingest_at_the_wire.wire.take() == ["PutItem"]
    for _ in range(3):
        assert ingest_at_the_wire.post("k")["headers"]["Idempotent-Replayed"] == "true"
        assert ingest_at_the_wire.wire.take() == ["PutItem"]


def test_a_lead_of_600_bytes_costs_two_write_units_fresh_or_duplicate_and_stays_under_2_kb(
    ingest_at_the_wire: Tapped,
) -> None:
    body = lead_of(600)
    assert len(json.dumps(body)) == 600
    ingest_at_the_wire.post("k", body)
    item = ingest_at_the_wire.client.scan(TableName=ingest_at_the_wire.table)["Items"][0]
    size = item_bytes(item)
    print(f"a receipt for a 600-byte lead: {size} bytes")
    assert size < 2 * KIB
    assert ingest_at_the_wire.units == [2.0]
    # A refused put consumes what a write of the stored item would (developer guide, "Capacity unit
    # consumption for writes"); a refusal does not say so itself, hence by the item's size.
    ingest_at_the_wire.wire.take()
    ingest_at_the_wire.post("k", body)
    assert ingest_at_the_wire.wire.take() == ["PutItem"]
    assert -(-size // KIB) == 2


def test_a_lost_answer_is_recognised_as_an_own_write(ingest_at_the_wire: Tapped) -> None:
    ingest_at_the_wire.wire.answers_to_lose = 1
    answer = ingest_at_the_wire.post("k")
    assert ingest_at_the_wire.wire.take() == ["PutItem", "PutItem"]
    assert answer["statusCode"] == 201
    assert "Idempotent-Replayed" not in answer["headers"]
    replay = ingest_at_the_wire.post("k")
    assert replay["headers"]["Idempotent-Replayed"] == "true"
    assert replay["body"] == answer["body"]


def test_when_every_answer_is_lost_it_is_503_and_the_retry_gets_the_stored_answer(
    ingest_at_the_wire: Tapped,
) -> None:
    ingest_at_the_wire.wire.answers_to_lose = 2
    assert ingest_at_the_wire.post("k")["statusCode"] == 503
    assert ingest_at_the_wire.wire.take() == ["PutItem"] * 2
    assert ingest_at_the_wire.post("k")["headers"]["Idempotent-Replayed"] == "true"
