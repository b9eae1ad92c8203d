"""The workers as Lambda calls them: environment in, AWS at the other end, nothing injected."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from handlers import deliver, dispatch, execute, fulfil, notify, read, reconcile
from handlers.adapters.event_bus import EventBridgeBus
from handlers.adapters.secrets import SsmSecrets
from handlers.domain.work import BY_OPERATION, pending_shards
from handlers.settings import ForbiddenSettingError, MissingSettingError
from tests.records_table import make_records_table
from tests.stream_events import inserted, stream_batch
from tests.unit.handlers.read_world import get_event
from tests.unit.handlers.test_dispatch_work import accepted_work
from tests.unit.handlers.test_wiring import Context
from tests.unit.handlers.tls_server import respond, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handlers.domain.receipt import Receipt

PREFIX = "arn:aws:sns:us-east-1:123456789012:onceward-dev-"
ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "STAGE": "dev",
    "TENANTS_TABLE": "onceward-dev_tenants",
    "RECEIPTS_TABLE": "onceward-dev_receipts",
    "RECORDS_TABLE": "onceward-dev_records",
    "SECRETS_PREFIX": "/onceward/dev/",
    "TOPIC_ARN_PREFIX": PREFIX,
    "EVENT_BUS_NAME": "onceward-dev_orders",
    "MAX_RECEIVES": "12",
}
ALL_SHARDS = [shard for operation in BY_OPERATION for shard in pending_shards(operation)]
CACHED = (
    *(deliver._worker, fulfil._worker),
    *(dispatch._dependencies, notify._dependencies, read._dependencies, reconcile._dependencies),
)


class World:
    """AWS as moto has it."""

    def __init__(self) -> None:
        self.dynamodb = boto3.client("dynamodb")
        self.sqs = boto3.client("sqs")
        self.sns = boto3.client("sns")
        make_records_table(self.dynamodb, "onceward-dev_records")
        for name in ("onceward-dev_tenants", "onceward-dev_receipts"):
            self.dynamodb.create_table(
                TableName=name,
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        self.queues = {
            name: self.sqs.create_queue(QueueName=f"onceward-dev_{name}")["QueueUrl"]
            for name in ("orders", "webhooks", "dispatch-retry", "audit")
        }
        topic = self.sns.create_topic(Name="onceward-dev-acme")["TopicArn"]
        self.sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=_arn("audit"), Attributes=_RAW)

    def tenant(self, destination: dict[str, str] | None) -> None:
        source = {
            "proof": {"scheme": "bearer", "header": None, "toleranceSeconds": 300},
            "identity": {"path": "id", "header": None, "template": "{id}"},
            "windowSeconds": 60,
            "bodyLimitBytes": 1024,
            "destination": destination,
        }
        item = {"pk": "tenant#acme", "tenantId": "acme", "status": "active", "orders": "{}"}
        item["webhooks"] = json.dumps({"crm": source})
        self.dynamodb.put_item(
            TableName="onceward-dev_tenants", Item={name: {"S": value} for name, value in item.items()}
        )

    def batch(self, queue: str) -> dict[str, Any]:
        """What is on a queue, as Lambda brings it."""
        received = self.sqs.receive_message(
            QueueUrl=self.queues[queue],
            MaxNumberOfMessages=10,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        ).get("Messages", [])
        return {"Records": [_as_lambda_does(message) for message in received]}

    def record(self, receipt: Receipt) -> dict[str, Any]:
        assert receipt.outbox is not None
        key = {"pk": {"S": f"{receipt.tenant_id}#{receipt.outbox.record_id}"}}
        return dict(self.dynamodb.get_item(TableName="onceward-dev_records", Key=key)["Item"])


_RAW = {"RawMessageDelivery": "true"}


def _arn(queue: str) -> str:
    return f"arn:aws:sqs:us-east-1:123456789012:onceward-dev_{queue}"


def _as_lambda_does(message: Any) -> dict[str, Any]:
    attributes = {
        name: {"stringValue": value["StringValue"], "dataType": "String"}
        for name, value in message.get("MessageAttributes", {}).items()
    }
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": attributes,
        "eventSource": "aws:sqs",
        "eventSourceARN": _arn("any"),
        "awsRegion": "us-east-1",
        "md5OfBody": message["MD5OfBody"],
    }


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        made = World()
        monkeypatch.setenv("RETRY_QUEUE_URL", made.queues["dispatch-retry"])
        monkeypatch.setenv("ORDERS_QUEUE_URL", made.queues["orders"])
        monkeypatch.setenv("WEBHOOKS_QUEUE_URL", made.queues["webhooks"])
        for cached in CACHED:
            cached.cache_clear()
        yield made
    for cached in CACHED:
        cached.cache_clear()


def test_an_order_goes_from_the_stream_to_the_topic_and_its_status_can_be_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Moto's event bus and parameter store take seconds and packages that we have no other use for.
    put: list[str] = []
    monkeypatch.setattr(EventBridgeBus, "put", lambda _self, _delivery, detail: put.append(detail))
    monkeypatch.setenv("QUEUE_URL", world.queues["orders"])
    world.tenant(None)
    accepted = accepted_work(1, "orders")
    assert accepted.outbox is not None
    place = get_event("/v1/orders/{id}", {"id": accepted.outbox.record_id})

    dispatch.handler(stream_batch(inserted(1, accepted)), Context())
    assert json.loads(read.handler(place, object())["body"])["status"] == "ACCEPTED"
    assert fulfil.handler(world.batch("orders"), Context()) == {"batchItemFailures": []}
    shown = read.handler(place, object())["body"]
    assert shown == accepted.outbox.document[:-1] + ',"status":"COMPLETED"}'
    assert not {"pendingShard", "pendingSince", "workOwner", "workLeaseUntil"} & set(world.record(accepted))

    [detail] = put
    notify.handler({"source": "onceward.dev", "detail": json.loads(detail)}, object())
    [published] = [json.loads(record["body"]) for record in world.batch("audit")["Records"]]
    assert (published["id"], published["type"]) == (accepted.outbox.event_id, "order.completed")
    assert published["correlationid"] == "correlation-1"
    # The event is what a GET shows of the order.
    assert list(published["data"].items()) == list(json.loads(shown).items())


def test_a_webhook_reaches_its_destination_through_the_stand_in_of_the_local_stage(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUEUE_URL", world.queues["webhooks"])
    monkeypatch.setenv("STAGE", "local")
    world.tenant({"url": "https://crm.acme.example/contacts/{id}", "method": "PUT"})
    secrets = {("acme", "destinations/webhooks/crm"): ("newest", "older")}
    monkeypatch.setattr(SsmSecrets, "find", lambda _self, tenant_id, name: secrets[tenant_id, name])
    document = '{"id":"R","source":"crm","eventId":"evt_1","event":{}}'
    base = accepted_work(1, "webhooks")
    assert base.outbox is not None
    accepted = replace(base, outbox=replace(base.outbox, document=document))
    dispatch.handler(stream_batch(inserted(1, accepted)), Context())

    with serving(respond(201), None) as stand_in:
        monkeypatch.setenv("STAND_IN_URL", f"http://127.0.0.1:{stand_in.port}")
        assert deliver.handler(world.batch("webhooks"), Context()) == {"batchItemFailures": []}

    [(method, path, headers, body)] = stand_in.requests
    assert (method, path, body.decode()) == ("PUT", "/crm.acme.example/contacts/evt_1", document)
    assert headers["Authorization"] == "Bearer newest"
    assert headers["Idempotency-Key"] == base.outbox.event_id
    assert world.record(accepted)["status"] == {"S": "DELIVERED"}


def test_what_fails_is_hidden_for_its_pause_and_what_is_lost_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUEUE_URL", world.queues["orders"])
    accepted = accepted_work(1, "orders")  # of a tenant that is not in the registry
    dispatch.handler(stream_batch(inserted(1, accepted)), Context())

    [record] = (batch := world.batch("orders"))["Records"]
    failed = fulfil.handler(batch, Context())
    assert failed == {"batchItemFailures": [{"itemIdentifier": record["messageId"]}]}
    assert world.batch("orders")["Records"] == []

    # Tried a moment ago, so not lost; then as if nobody had been at it since.
    reconcile.handler({}, Context())
    assert world.batch("orders")["Records"] == []
    world.dynamodb.put_item(
        TableName="onceward-dev_records", Item=world.record(accepted) | {"updatedAt": {"N": "1"}}
    )
    for _ in range(2):
        reconcile.handler({}, Context())
    [again] = world.batch("orders")["Records"]
    assert again["body"] == record["body"]
    assert again["messageAttributes"] == record["messageAttributes"]
    assert again["attributes"]["MessageGroupId"] == "acme"


@pytest.mark.parametrize("cached", [deliver._worker, fulfil._worker, execute._dependencies])
@pytest.mark.parametrize("stage", ["dev", "prod", "Local", "local2"])
def test_a_stand_in_is_refused_wherever_it_would_take_real_charges(
    monkeypatch: pytest.MonkeyPatch, cached: Any, stage: str
) -> None:
    for name in (*ENVIRONMENT, "QUEUE_URL", "ORDERS_QUEUE_URL", "WEBHOOKS_QUEUE_URL", "SLOTS_TABLE"):
        monkeypatch.setenv(name, ENVIRONMENT.get(name, "https://sqs.invalid/queue"))
    monkeypatch.setenv("STAGE", stage)
    monkeypatch.setenv("STAND_IN_URL", "http://127.0.0.1:9")
    cached.cache_clear()
    with pytest.raises(ForbiddenSettingError, match=f"STAND_IN_URL is for stage local, not {stage}$"):
        cached()


def test_no_shard_and_no_operation_is_always_the_last_that_is_looked_at(world: World) -> None:
    shards = tuple(reconcile.Shard(name.partition("#")[0], name) for name in ALL_SHARDS)
    orders = [reconcile._dependencies().shuffled(shards) for _ in range(300)]
    assert {tuple(sorted(order, key=str)) for order in orders} == {tuple(sorted(shards, key=str))}
    # That one of 16 is the last of none of 300 has a chance of 16 * (15/16)^300, one in 16 million.
    assert {order[-1] for order in orders} == set(shards)


@pytest.mark.parametrize(
    ("cached", "variable"),
    [
        (deliver._worker, "QUEUE_URL"),
        (deliver._worker, "MAX_RECEIVES"),
        (fulfil._worker, "EVENT_BUS_NAME"),
        (notify._dependencies, "TOPIC_ARN_PREFIX"),
        (reconcile._dependencies, "ORDERS_QUEUE_URL"),
    ],
)
def test_a_function_deployed_without_a_variable_names_it(
    monkeypatch: pytest.MonkeyPatch, cached: Any, variable: str
) -> None:
    for name in (*ENVIRONMENT, "QUEUE_URL", "ORDERS_QUEUE_URL", "WEBHOOKS_QUEUE_URL"):
        monkeypatch.setenv(name, ENVIRONMENT.get(name, "https://sqs.invalid/queue"))
    monkeypatch.delenv(variable)
    cached.cache_clear()
    with pytest.raises(MissingSettingError, match=variable):
        cached()
