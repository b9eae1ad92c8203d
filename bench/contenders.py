"""The peer, Powertools for AWS Lambda's idempotency utility, at the jobs that it is compared at.

A lead that may come twice is stored once; a payment that may come twice is charged once; a duplicate gets the
first answer. The peer's handlers are what its documentation shows: the `idempotent` decorator with payload
validation, over a handler that writes the lead with a put of its own, or that charges at the provider which
Onceward charges at. All run in this process over the same local DynamoDB and the same botocore settings.
"""

from __future__ import annotations

import hashlib
import json
import logging
import uuid
from typing import TYPE_CHECKING, Any, Final, Protocol

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent,
)

from bench.local_aws import make_table
from bench.operations import Operations
from bench.provider import TOKEN, URL
from handlers import authorizer
from handlers.adapters.registry import DynamoDbRegistry
from handlers.operations import accepted, executed
from handlers.settings import AuthorizerSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_dynamodb import DynamoDBClient

    from bench.local_aws import Clients
    from handlers.domain.outbound import Outbound

_DAY_SECONDS = 86_400
# What Onceward's payment gives its provider at most, about; the one in this process never waits.
_PROVIDER_SECONDS: Final = 10.0


class Contender(Protocol):
    """One way to do the job: takes a REST API proxy event, gives a proxy answer."""

    def __call__(self, event: dict[str, Any], /) -> dict[str, Any]:
        """Answer one event."""


class Contest:
    """One job and who does it, each over tables of its own.

    Attributes:
        operation: `leads` or `payments`.
        contenders: by name.
    """

    def __init__(self, operation: str, clients: Clients) -> None:
        self.operation = operation
        self._onceward = Operations(clients)
        if operation == "leads":
            peer = powertools_leads(clients.dynamodb)
        else:
            peer = powertools_payments(clients.dynamodb, self._onceward.provider)
        self.contenders: dict[str, Contender] = {"Onceward": self._onceward.answer, "Powertools": peer}

    def event(self, key: str) -> dict[str, Any]:
        """The same for every contender; it arrives now."""
        return self._onceward.event(self.operation, key)


def powertools_leads(client: DynamoDBClient) -> Contender:
    """The peer over a table of its own, and a put of the lead as the effect."""
    leads = make_table(client, "id")
    validate = accepted.BY_RESOURCE["/v1/leads"].schema

    def effect(event: dict[str, Any]) -> dict[str, Any]:
        lead = validate(json.loads(event["body"]))
        lead_id = uuid.uuid4().hex
        client.put_item(
            TableName=leads,
            Item={"id": {"S": lead_id}, "document": {"S": json.dumps(lead)}},
            ConditionExpression="attribute_not_exists(id)",
        )
        return {"id": lead_id}

    return _idempotent(client, effect)


def powertools_payments(client: DynamoDBClient, provider: Outbound) -> Contender:
    """The peer over a table of its own, and a charge under the caller's key as the effect; no record kept."""
    validate = executed.BY_RESOURCE["/v1/payments"].schema

    def effect(event: dict[str, Any]) -> dict[str, Any]:
        payment = validate(json.loads(event["body"]))
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": event["headers"]["idempotency-key"],
            "Authorization": f"Bearer {TOKEN}",
        }
        answer = provider.call(
            "POST",
            f"{URL}/charges",
            headers,
            json.dumps(payment).encode(),
            timeout_seconds=_PROVIDER_SECONDS,
        )
        charge = json.loads(answer.body)
        # The members that Onceward's payment answers.
        shown = {name: payment[name] for name in ("amount", "currency")}
        return {"id": uuid.uuid4().hex, "status": charge["status"], **shown, "chargeId": charge["id"]}

    return _idempotent(client, effect)


def _idempotent(client: DynamoDBClient, effect: Callable[[dict[str, Any]], dict[str, Any]]) -> Contender:
    """A handler that lets `effect` happen once for a key of the header and answers what it returns."""
    layer = DynamoDBPersistenceLayer(table_name=make_table(client, "id"), boto3_client=client)
    settings = IdempotencyConfig(
        event_key_jmespath='headers."idempotency-key"',
        payload_validation_jmespath="body",
        raise_on_no_idempotency_key=True,
        expires_after_seconds=_DAY_SECONDS,
    )

    @idempotent(config=settings, persistence_store=layer)
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ANN401, ARG001 - Lambda's
        return {"statusCode": 201, "headers": {}, "body": json.dumps(effect(event))}

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
