"""What `ingest` and `webhooks` ask of DynamoDB, counted at the wire, and what a lost answer there does."""

from __future__ import annotations

import json
import logging
import time
import uuid
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from aws_lambda_powertools import Logger

from bench.contenders import bench_authorizer, connect, make_table
from bench.units import Units, item_bytes
from bench.wire import Wire, tapped
from handlers import webhooks
from handlers.adapters.aws import CLIENT_CONFIG
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.adapters.secrets import SsmSecrets
from handlers.adapters.tenant_config import DynamoDbTenantConfigs
from handlers.ingest import Dependencies, ingest
from handlers.settings import IngestSettings, WebhooksSettings
from ops.local.emulator import Emulator
from tests.builders import LEAD, lead_event
from tests.unit.handlers.test_tenant_config import SOURCE, tenant_item
from tests.unit.handlers.webhook_world import STRIPE_SECRET, proof, webhook_event

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
        self.units = Units(client)
        self.client = client
        self.table = make_table(client, "pk")
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
    ingest_at_the_wire.units.take()
    ingest_at_the_wire.post("k", body)
    assert ingest_at_the_wire.units.take() == 2
    ingest_at_the_wire.post("k", body)
    assert ingest_at_the_wire.units.take() == 2
    (item,) = ingest_at_the_wire.client.scan(TableName=ingest_at_the_wire.table)["Items"]
    size = item_bytes(item)
    print(f"a receipt for a 600-byte lead: {size} bytes")
    assert KIB < size < 2 * KIB


def test_the_authorizer_reads_one_item_a_key_and_writes_nothing(ingest_at_the_wire: Tapped) -> None:
    authorize = bench_authorizer(ingest_at_the_wire.client)
    ingest_at_the_wire.wire.take()
    assert authorize()["policyDocument"]["Statement"][0]["Effect"] == "Allow"
    assert ingest_at_the_wire.wire.take() == ["GetItem"]


def _receiver(at_the_wire: Tapped, emulator_url: tuple[str, str, str]) -> webhooks.Dependencies:
    """`webhooks` after a cold start, over the same proxy; its one source signs as Stripe does."""
    url, key_id, secret = emulator_url
    ssm = boto3.client(
        "ssm",
        endpoint_url=url,
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        region_name=REGION,
        config=CLIENT_CONFIG,
    )
    prefix = f"/onceward/{uuid.uuid4().hex}/"
    ssm.put_parameter(Name=f"{prefix}acme/webhooks/stripe", Value=STRIPE_SECRET, Type="SecureString")
    tenants = make_table(at_the_wire.client, "pk")
    at_the_wire.client.put_item(TableName=tenants, Item=tenant_item({"stripe": SOURCE}))
    at_the_wire.wire.take(), at_the_wire.units.take()
    return webhooks.Dependencies(
        settings=WebhooksSettings("local", at_the_wire.table, tenants, prefix),
        store=DynamoDbReceipts(at_the_wire.table, at_the_wire.client),
        tenants=DynamoDbTenantConfigs(tenants, at_the_wire.client),
        secrets=SsmSecrets(prefix, ssm),
        logger=Logger(service="webhooks-wire", level=logging.CRITICAL),
        clock_ms=lambda: time.time_ns() // 1_000_000,
        randomness=lambda: uuid.uuid4().hex,
    )


def test_a_fresh_webhook_is_one_put_and_so_is_its_duplicate_and_config_is_read_once(
    ingest_at_the_wire: Tapped, emulator_url: tuple[str, str, str]
) -> None:
    receiver = _receiver(ingest_at_the_wire, emulator_url)
    wire, units = ingest_at_the_wire.wire, ingest_at_the_wire.units

    def send(event: dict[str, Any]) -> int:
        now = time.time_ns() // 1_000_000
        sent = proof("stripe", json.dumps(event).encode(), at=now // 1000)
        answer = webhooks.receive(webhook_event(event, "stripe", headers=sent, arrival_ms=now), receiver)
        return int(answer["statusCode"])

    assert send({"id": "first"}) == 202
    assert wire.take() == ["GetItem", "PutItem"]
    for body, status in (({"id": "first", "n": 2}, 200), ({"id": "second"}, 202), ({"id": "second"}, 200)):
        assert send(body) == status
        assert wire.take() == ["PutItem"]
    units.take()
    large = {"id": "third", "text": "m" * 573}
    assert len(json.dumps(large)) == 600
    assert (send(large), units.take(), send(large), units.take()) == (202, 2, 200, 2)


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
