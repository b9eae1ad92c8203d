"""The same job by Onceward and by its peer, Powertools for AWS Lambda's idempotency utility.

The job: take in a lead that may come twice, store it once, answer a duplicate with the first answer. The
peer's handler is what its documentation shows: the `idempotent` decorator with payload validation over a
handler that writes the lead with a put of its own. Both run in this process over the same local DynamoDB and
the same botocore settings.
"""

from __future__ import annotations

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

from handlers.adapters.aws import CLIENT_CONFIG
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.ingest import Dependencies, ingest
from handlers.operations import BY_RESOURCE
from handlers.settings import IngestSettings

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


class _Context:
    """What the peer asks of Lambda's context."""

    function_name = "bench"

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 30_000
