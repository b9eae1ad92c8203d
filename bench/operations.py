"""Every operation's function over tables of its own: the handlers as on AWS, less the gateway.

Benchmark and wire tests call the operations through this one class: what the README says is what is tested.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools import Logger

from bench.local_aws import make_table
from bench.provider import TOKEN, URL, Provider
from bench.requests import SOURCE, TENANT, body_of, event_of, webhook_event
from handlers import execute, ingest, webhooks
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.adapters.secrets import SsmSecrets
from handlers.adapters.slots import DynamoDbSlots
from handlers.adapters.tenant_config import DynamoDbTenantConfigs
from handlers.domain.operation import Ports
from handlers.domain.payment_provider import SECRET
from handlers.operations import executed
from handlers.settings import ExecuteSettings, IngestSettings, WebhooksSettings

if TYPE_CHECKING:
    from bench.local_aws import Clients

REMAINING_MS: Final = 28_000
"""How long an invocation of `execute` may still run: what the gateway waits for it, about."""

_WEBHOOK_SECRET: Final = "whsec_of_bench"  # noqa: S105 - proves nothing to anybody
_SOURCES: Final[dict[str, Any]] = {
    SOURCE: {
        "proof": {"scheme": "stripe", "header": None, "toleranceSeconds": 300},
        "identity": {"path": "id", "header": None, "template": "{id}"},
        "windowSeconds": 2_592_000,
        "bodyLimitBytes": 65_536,
        "destination": None,
    }
}


class Operations:
    """One environment of each function.

    Attributes:
        provider: what payments charge at.
        receipts: the name of the receipts table.
    """

    def __init__(self, clients: Clients, *, checkpoint: bool = False) -> None:
        """`checkpoint`: payments save the charge before the answer is written."""
        self._clients = clients
        self.provider = Provider()
        self.receipts, self._slots, self._tenants = (make_table(clients.dynamodb, "pk") for _ in range(3))
        self._prefix = f"/onceward/{uuid.uuid4().hex}/"
        self._settings = {
            "payments": {
                "windowSeconds": 86_400,
                "keySource": "header",
                "options": {"providerUrl": URL, "checkpoint": checkpoint},
            }
        }
        self._register()
        self.begin()

    def begin(self) -> None:
        """New environments of all functions: what they have read of config and secrets is forgotten."""
        client, secrets = self._clients.dynamodb, SsmSecrets(self._prefix, self._clients.ssm)
        common: dict[str, Any] = {
            "store": DynamoDbReceipts(self.receipts, client),
            "logger": Logger(service="bench-operations", level=logging.CRITICAL),
            "clock_ms": lambda: time.time_ns() // 1_000_000,
            "randomness": lambda: uuid.uuid4().hex,
        }
        self._ingest = ingest.Dependencies(settings=IngestSettings("local", self.receipts, ()), **common)
        self._execute = execute.Dependencies(
            settings=ExecuteSettings("local", self.receipts, self._slots, self._prefix, (), None),
            ports=Ports(self.provider, DynamoDbSlots(self._slots, client), secrets),
            **common,
        )
        self._webhooks = webhooks.Dependencies(
            settings=WebhooksSettings("local", self.receipts, self._tenants, self._prefix),
            tenants=DynamoDbTenantConfigs(self._tenants, client),
            secrets=secrets,
            **common,
        )

    def event(self, operation: str, key: str, body: Any = None) -> dict[str, Any]:  # noqa: ANN401 - any JSON
        """The proxy event of a request; `body`: None for a usual one. A webhook's event has its id in it."""
        if operation == "webhooks":
            return webhook_event(body_of(operation, key) if body is None else body, _WEBHOOK_SECRET)
        return event_of(operation, key, body, settings=self._settings)

    def answer(self, event: dict[str, Any]) -> dict[str, Any]:
        """What the function of the event's resource answers."""
        if event["resource"] in executed.BY_RESOURCE:
            return execute.respond(event, REMAINING_MS, self._execute)
        if "pathParameters" in event:
            return webhooks.receive(event, self._webhooks)
        return ingest.ingest(event, self._ingest)

    def post(self, operation: str, key: str, body: object = None) -> dict[str, Any]:
        """Make the event, and answer it."""
        return self.answer(self.event(operation, key, body))

    def _register(self) -> None:
        """Make the tenant, its source's secret and its provider's."""
        self._clients.dynamodb.put_item(
            TableName=self._tenants,
            Item={
                "pk": {"S": f"tenant#{TENANT}"},
                "kind": {"S": "tenant"},
                "tenantId": {"S": TENANT},
                "status": {"S": "active"},
                "synthetic": {"BOOL": False},
                "webhooks": {"S": json.dumps(_SOURCES)},
                "orders": {"S": json.dumps({"destination": None})},
            },
        )
        for name, value in ((f"webhooks/{SOURCE}", _WEBHOOK_SECRET), (SECRET, TOKEN)):
            self._clients.ssm.put_parameter(
                Name=f"{self._prefix}{TENANT}/{name}", Value=value, Type="SecureString"
            )
