"""The same job by Onceward and by its peer, Powertools for AWS Lambda's idempotency utility.

The job: take in a lead that may come twice, store it once, answer a duplicate with the first answer. The
peer's handler is what its documentation shows: the `idempotent` decorator with payload validation over a
handler that writes the lead with a put of its own. Both run in this process over the same local DynamoDB and
the same botocore settings.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
import uuid
from typing import TYPE_CHECKING, Any, Protocol

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent,
)

from handlers import authorizer
from handlers.adapters.aws import CLIENT_CONFIG
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.adapters.registry import DynamoDbRegistry
from handlers.ingest import Dependencies, ingest
from handlers.operations.accepted import BY_RESOURCE
from handlers.settings import AuthorizerSettings, IngestSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_dynamodb import DynamoDBClient

_DAY_SECONDS = 86_400


class Contender(Protocol):
    """One way to do the job: takes a REST API proxy event, gives a proxy answer."""

    def __call__(self, event: dict[str, Any], /) -> dict[str, Any]:
        """Answer one event."""


def connect(endpoint_url: str, access_key_id: str, secret_access_key: str, region: str) -> DynamoDBClient:
    """A DynamoDB client with the settings that the functions use."""
    client: DynamoDBClient = boto3.client(
        "dynamodb",
        endpoint_url=endpoint_url,
        aws_access_key_id=access_key_id,
        aws_secret_access_key=secret_access_key,
        region_name=region,
        config=CLIENT_CONFIG,
    )
    return client


def make_table(client: DynamoDBClient, key: str) -> str:
    """Make an empty on-demand table with one hash key, and return its name."""
    name = f"bench-{uuid.uuid4().hex[:12]}"
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return name


def onceward(client: DynamoDBClient) -> Contender:
    """Onceward's ingest over a table of its own."""
    table = make_table(client, "pk")
    dependencies = Dependencies(
        settings=IngestSettings(stage="bench", receipts_table=table, cors_origins=()),
        store=DynamoDbReceipts(table, client),
        logger=Logger(service="ingest", level=logging.CRITICAL),
        clock_ms=lambda: time.time_ns() // 1_000_000,
        randomness=lambda: uuid.uuid4().hex,
    )
    return lambda event: ingest(event, dependencies)


def powertools(client: DynamoDBClient) -> Contender:
    """The peer over a table of its own, and a put of the lead as the effect."""
    leads = make_table(client, "id")
    layer = DynamoDBPersistenceLayer(table_name=make_table(client, "id"), boto3_client=client)
    settings = IdempotencyConfig(
        event_key_jmespath='headers."idempotency-key"',
        payload_validation_jmespath="body",
        raise_on_no_idempotency_key=True,
        expires_after_seconds=_DAY_SECONDS,
    )
    validate = BY_RESOURCE["/v1/leads"].schema

    @idempotent(config=settings, persistence_store=layer)
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ANN401, ARG001 - Lambda's
        lead = validate(json.loads(event["body"]))
        lead_id = uuid.uuid4().hex
        client.put_item(
            TableName=leads,
            Item={"id": {"S": lead_id}, "document": {"S": json.dumps(lead)}},
            ConditionExpression="attribute_not_exists(id)",
        )
        return {"statusCode": 201, "headers": {}, "body": json.dumps({"id": lead_id})}

    call: Callable[[dict[str, Any], Any], dict[str, Any]] = handler
    return lambda event: call(event, _Context())


def bench_authorizer(client: DynamoDBClient) -> Callable[[], dict[str, Any]]:
    """The authorizer over a registry with one key; each call asks it about that key, as a cold cache does."""
    table, api_key = make_table(client, "pk"), uuid.uuid4().hex
    client.put_item(
        TableName=table,
        Item={
            "pk": {"S": f"key#{hashlib.sha256(api_key.encode()).hexdigest()}"},
            "kind": {"S": "key"},
            "tenantId": {"S": "bench"},
            "keyName": {"S": "server"},
            "status": {"S": "active"},
            "tier": {"S": "bench"},
            "operations": {"L": [{"S": "*"}]},
            "origins": {"L": []},
            "bodyLimitBytes": {"N": "131072"},
            "operationSettings": {"S": "{}"},
        },
    )
    dependencies = authorizer.Dependencies(
        settings=AuthorizerSettings(stage="bench", tenants_table=table),
        registry=DynamoDbRegistry(table, client),
        logger=Logger(service="authorizer", level=logging.CRITICAL),
    )
    event = {
        "methodArn": "arn:aws:execute-api:us-east-1:000000000000:api/bench/POST/v1/leads",
        "multiValueHeaders": {"x-api-key": [api_key]},
    }
    return lambda: authorizer.authorize(event, dependencies)


class _Context:
    """What the peer asks of Lambda's context."""

    function_name = "bench"

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 30_000
