"""`webhooks` as the tests call it: tenants and secrets on moto, a store of choice, a log to read."""

from __future__ import annotations

import base64
import hmac
import io
import itertools
import json
from typing import TYPE_CHECKING, Any

import boto3
from aws_lambda_powertools import Logger

from handlers.adapters.secrets import SsmSecrets
from handlers.adapters.tenant_config import DynamoDbTenantConfigs
from handlers.settings import WebhooksSettings
from handlers.webhooks import Dependencies, receive
from tests.builders import NOW_MS
from tests.fakes.receipts import InMemoryReceipts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.ports import ReceiptStore

# Those of tenant `acme`; every tenant has its own.
BEARER = "s3cret-of-forms-of-acme"
STRIPE_SECRET = "whsec_of_stripe_of_acme"
EVENT: dict[str, Any] = {"id": "evt_1", "type": "form.submitted", "data": {"name": "Ada"}}
LIMIT = 4096
_NUMBERS = itertools.count()


def _source(scheme: str, path: str | None, header: str | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "proof": {"scheme": scheme, "header": None, "toleranceSeconds": 300},
        "identity": {"path": path, "header": header, "template": None},
        "windowSeconds": 2_592_000,
        "bodyLimitBytes": LIMIT,
        "destination": None,
    } | changes


SOURCES = {
    "plain": _source("bearer", "id"),
    "other": _source("bearer", "id"),
    "stripe": _source("stripe", "id"),
    "agreeing": _source("standard-webhooks", "id", "webhook-id"),
    "standard": _source("standard-webhooks", None, "webhook-id"),
    "forms": _source(
        "bearer",
        None,
        identity={
            "path": "data.submissionId",
            "header": None,
            "template": "staticforms:{event}:{data.submissionId}",
        },
    ),
    "secretless": _source("bearer", "id"),
}


def secrets_of(tenant: str) -> dict[str, str]:
    """A tenant's secrets by source, none of which is another tenant's."""
    bearer = f"s3cret-of-forms-of-{tenant}"
    standard = "whsec_" + base64.b64encode(_standard_key(tenant)).decode()
    return {
        "plain": bearer,
        "other": bearer,
        "stripe": f"whsec_of_stripe_of_{tenant}",
        "agreeing": standard,
        "standard": standard,
        "forms": f"newest\n{bearer}",
    }


def _standard_key(tenant: str) -> bytes:
    return f"standard key of {tenant}".encode()


class World:
    """One environment of the function. Made under moto; `store` can be another for each test."""

    def __init__(self) -> None:
        dynamodb = boto3.client("dynamodb", region_name="us-east-1")
        ssm = boto3.client("ssm", region_name="us-east-1")
        for table in ("tenants", "receipts"):
            dynamodb.create_table(
                TableName=table,
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        for tenant_id, status in (("acme", "active"), ("beta", "active"), ("closed", "suspended")):
            dynamodb.put_item(
                TableName="tenants",
                Item={
                    "pk": {"S": f"tenant#{tenant_id}"},
                    "tenantId": {"S": tenant_id},
                    "status": {"S": status},
                    "webhooks": {"S": json.dumps(SOURCES)},
                    "orders": {"S": "{}"},
                },
            )
            for source, secret in secrets_of(tenant_id).items():
                ssm.put_parameter(
                    Name=f"/onceward/local/{tenant_id}/webhooks/{source}", Value=secret, Type="SecureString"
                )
        self.calls: list[str] = []
        for service, client in (("dynamodb", dynamodb), ("ssm", ssm)):
            client.meta.events.register(
                f"provide-client-params.{service}.*", lambda model, **_: self.calls.append(model.name)
            )
        self.dynamodb, self.ssm = dynamodb, ssm
        self.forget()
        self.begin(InMemoryReceipts())

    def forget(self) -> None:
        """Nothing is cached, as after a cold start."""
        self.tenants = DynamoDbTenantConfigs("tenants", self.dynamodb)
        self.secrets = SsmSecrets("/onceward/local/", self.ssm)

    def begin(self, store: ReceiptStore) -> None:
        """A new store and an empty log; config and secrets stay cached."""
        self.store = store
        self._log = io.StringIO()
        self.calls.clear()
        numbers, number = itertools.count(), next(_NUMBERS)
        self.dependencies = Dependencies(
            settings=WebhooksSettings("local", "receipts", "tenants", "/onceward/local/"),
            store=store,
            tenants=self.tenants,
            secrets=self.secrets,
            # Powertools keeps one handler a service name for the whole process.
            logger=Logger(service=f"webhooks-{number}", level="INFO", stream=self._log),
            clock_ms=lambda: NOW_MS,
            randomness=lambda: f"random-{number}-{next(numbers)}",
        )

    @property
    def receipts(self) -> InMemoryReceipts:
        """The store, where it is one in memory."""
        assert isinstance(self.store, InMemoryReceipts)
        return self.store

    def logged(self) -> list[dict[str, Any]]:
        """The log's lines."""
        return [json.loads(line) for line in self._log.getvalue().splitlines()]

    def send(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a proxy event."""
        answer = receive(event, self.dependencies)
        assert answer["headers"]["X-Correlation-Id"]
        return answer

    def post(
        self, body: object = None, source: str = "plain", tenant: str = "acme", **more: Any
    ) -> dict[str, Any]:
        """Send a body to a source, proved as it wants it."""
        return self.send(webhook_event(body, source, tenant, **more))


def proof(
    source: str, raw: bytes, event_id: str = "evt_1", at: int = NOW_MS // 1000, tenant: str = "acme"
) -> dict[str, list[str]]:
    """The headers by which a sender of a tenant proves itself."""
    secret = secrets_of(tenant).get(source, BEARER).splitlines()[-1]
    if source == "stripe":
        mac = hmac.digest(secret.encode(), f"{at}.".encode() + raw, "sha256")
        return {"stripe-signature": [f"t={at},v1={mac.hex()}"]}
    if source in ("agreeing", "standard"):
        mac = hmac.digest(_standard_key(tenant), f"{event_id}.{at}.".encode() + raw, "sha256")
        signature = "v1," + base64.b64encode(mac).decode()
        return {"webhook-id": [event_id], "webhook-timestamp": [str(at)], "webhook-signature": [signature]}
    return {"authorization": [f"Bearer {secret}"]}


def webhook_event(
    body: object = None,
    source: str = "plain",
    tenant: str = "acme",
    *,
    raw: bytes | None = None,
    headers: Mapping[str, Sequence[str]] | None = None,
    base64_encoded: bool = True,
    arrival_ms: int = NOW_MS,
) -> dict[str, Any]:
    """A REST API (v1) proxy event for the receiver; `headers` win over those of the proof."""
    sent = json.dumps(EVENT if body is None else body).encode() if raw is None else raw
    multiple = (
        {"content-type": ["application/json"]} | proof(source, sent, tenant=tenant) | dict(headers or {})
    )
    return {
        "resource": "/v1/webhooks/{tenant}/{source}",
        "path": f"/v1/webhooks/{tenant}/{source}",
        "httpMethod": "POST",
        "multiValueHeaders": {name: list(values) for name, values in multiple.items()},
        "pathParameters": {"tenant": tenant, "source": source},
        "requestContext": {"requestId": "gateway-request-id", "requestTimeEpoch": arrival_ms},
        "body": base64.b64encode(sent).decode() if base64_encoded else sent.decode(),
        "isBase64Encoded": base64_encoded,
    }
