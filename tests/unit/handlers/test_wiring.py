"""Each function as Lambda calls it: environment in, AWS at the other end, nothing injected."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext
from moto import mock_aws

from handlers import authorizer, dispatch, execute, ingest, read, webhooks
from handlers.adapters.receipt_item import from_item, to_item
from handlers.settings import MissingSettingError
from tests.builders import LEAD, authorizer_context, lead_event
from tests.stream_events import inserted, stream_batch
from tests.unit.handlers.authorizer_desk import CREATE, key_item, permits, request_event
from tests.unit.handlers.dispatch_bench import accepted
from tests.unit.handlers.ingest_calls import keyed
from tests.unit.handlers.payment_world import PAYMENT
from tests.unit.handlers.read_world import get_event, key
from tests.unit.handlers.test_appointments import BODY as APPOINTMENT
from tests.unit.handlers.test_tenant_config import SOURCE, tenant_item
from tests.unit.handlers.webhook_world import STRIPE_SECRET, webhook_event

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "STAGE": "dev",
    "TENANTS_TABLE": "onceward-dev_tenants",
    "RECEIPTS_TABLE": "onceward-dev_receipts",
    "RECORDS_TABLE": "onceward-dev_records",
    "SLOTS_TABLE": "onceward-dev_slots",
    "SECRETS_PREFIX": "/onceward/dev/",
    "TOPIC_ARN_PREFIX": "arn:aws:sns:us-east-1:123456789012:onceward-dev-",
    "ORDERS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/onceward-dev_orders",
    "WEBHOOKS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/onceward-dev_webhooks",
}


class Context(LambdaContext):
    """What Lambda hands over beside the event."""

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 30_000


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        dynamodb = boto3.client("dynamodb")
        for name in ("TENANTS_TABLE", "RECEIPTS_TABLE", "RECORDS_TABLE", "SLOTS_TABLE"):
            dynamodb.create_table(
                TableName=ENVIRONMENT[name],
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        boto3.client("sns").create_topic(Name="onceward-dev-acme")
        queue = boto3.client("sqs").create_queue(QueueName="onceward-dev_dispatch-retry")
        monkeypatch.setenv("RETRY_QUEUE_URL", queue["QueueUrl"])
        for module in (authorizer, dispatch, execute, ingest, read, webhooks):
            module._dependencies.cache_clear()
        yield dynamodb
    for module in (authorizer, dispatch, execute, ingest, read, webhooks):
        module._dependencies.cache_clear()


def test_the_authorizer_finds_its_registry(aws: Any) -> None:
    hashed = sha256(b"value").hexdigest()
    aws.put_item(TableName="onceward-dev_tenants", Item=key_item(pk={"S": f"key#{hashed}"}))
    assert permits(authorizer.handler(request_event("value"), object()), CREATE)


def test_ingest_accepts_and_replays_and_what_it_stored_is_delivered(aws: Any) -> None:
    first = ingest.handler(keyed("k1"), Context())
    again = ingest.handler(keyed("k1"), Context())
    assert (first["statusCode"], again["headers"]["Idempotent-Replayed"]) == (201, "true")
    assert again["body"] == first["body"]

    stored = aws.get_item(TableName="onceward-dev_receipts", Key={"pk": {"S": "acme#k1"}})["Item"]
    dispatch.handler(stream_batch(inserted(1, from_item(stored))), Context())
    place = first["headers"]["Location"].rpartition("/")[2]
    found = read.handler(get_event("/v1/leads/{id}", {"id": place}), object())
    assert json.loads(found["body"])["lead"] == LEAD


def test_execute_books_a_slot_and_asks_the_provider_with_its_secret(aws: Any) -> None:
    event = lead_event(APPOINTMENT) | {"resource": "/v1/appointments"}
    first, again = execute.handler(event, Context()), execute.handler(event, Context())
    assert (first["statusCode"], again["body"]) == (201, first["body"])
    assert len(aws.scan(TableName="onceward-dev_slots")["Items"]) == 1

    boto3.client("ssm").put_parameter(
        Name="/onceward/dev/acme/payments/provider", Value="token", Type="SecureString"
    )
    options = {"providerUrl": "https://127.0.0.1/v1"}
    settings = {"payments": {"windowSeconds": 60, "keySource": "header", "options": options}}
    context = authorizer_context(operationSettings=json.dumps(settings))
    event = lead_event(PAYMENT, headers={"idempotency-key": ["k"]}, authorizer=context)
    refused = execute.handler(event | {"resource": "/v1/payments"}, Context())
    # The real caller of destinations: it calls no private address.
    assert (refused["statusCode"], json.loads(refused["body"])["type"]) == (
        502,
        "urn:onceward:problem:effect-failed",
    )


def test_webhooks_finds_its_config_its_secret_and_its_receipts(aws: Any) -> None:
    aws.put_item(TableName="onceward-dev_tenants", Item=tenant_item({"stripe": SOURCE}))
    boto3.client("ssm").put_parameter(
        Name="/onceward/dev/acme/webhooks/stripe", Value=STRIPE_SECRET, Type="SecureString"
    )
    answers = [webhooks.handler(webhook_event(source="stripe"), Context()) for _ in range(2)]
    assert [answer["statusCode"] for answer in answers] == [202, 200]


def test_dispatch_writes_and_read_answers_it(aws: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lead = accepted(1)
    assert lead.outbox is not None
    aws.put_item(TableName="onceward-dev_receipts", Item=to_item(lead))

    assert dispatch.handler(stream_batch(inserted(1, lead)), Context()) == {"batchItemFailures": []}

    found = read.handler(get_event("/v1/leads/{id}", {"id": lead.outbox.record_id}), object())
    assert (found["statusCode"], found["body"]) == (200, lead.outbox.document)
    receipt = read.handler(key(lead.key), object())
    assert json.loads(receipt["body"])["recordId"] == lead.outbox.record_id


@pytest.mark.parametrize(
    ("module", "variable"),
    [
        (authorizer, "TENANTS_TABLE"),
        (ingest, "RECEIPTS_TABLE"),
        (dispatch, "RETRY_QUEUE_URL"),
        (dispatch, "TOPIC_ARN_PREFIX"),
        (read, "STAGE"),
        (webhooks, "SECRETS_PREFIX"),
        (execute, "SLOTS_TABLE"),
        (execute, "SECRETS_PREFIX"),
    ],
)
def test_a_function_deployed_without_a_variable_names_it(
    aws: Any, monkeypatch: pytest.MonkeyPatch, module: Any, variable: str
) -> None:
    monkeypatch.delenv(variable)
    with pytest.raises(MissingSettingError, match=variable):
        module._dependencies()


@pytest.mark.parametrize(("value", "honoured"), [("honoured", True), ("ignored", False), (None, False)])
def test_partial_failures_are_reported_only_where_told_that_they_are_read(
    aws: Any, monkeypatch: pytest.MonkeyPatch, value: str | None, honoured: bool
) -> None:
    if value is not None:
        monkeypatch.setenv("STREAM_PARTIAL_FAILURES", value)
    assert dispatch._dependencies().settings.stream_honours_partial_failures is honoured
