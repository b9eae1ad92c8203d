"""Attempts over HTTP: the real handlers, from the gateway's event to the answer, on the scheduler's ports."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from aws_lambda_powertools import Logger

from handlers import execute, ingest
from handlers.domain import canonical_json
from handlers.domain.fingerprint import fingerprint
from handlers.domain.operation import Ports
from handlers.settings import ExecuteSettings, IngestSettings
from proof.provider import AskingProvider
from proof.receipts import AskingStore
from tests.builders import authorizer_context, lead_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from proof.programs import Life

REMAINING_MS: Final = 28_000
"""What Lambda has left for an invocation when it begins: `execute`'s timeout, less its start."""

PAYMENT: Final = {"amount": 1999, "currency": "EUR", "paymentMethod": "pm_card"}
OTHER_PAYMENT: Final = PAYMENT | {"amount": 2999}


@dataclass(frozen=True)
class Sent:
    """One request. `settings`: the tenant's, of its operation (`windowSeconds`, `keySource`, `options`)."""

    resource: str
    body: Mapping[str, Any]
    settings: Mapping[str, Any]
    key: str | None = "k"
    tenant: str = "acme"

    @property
    def operation(self) -> str:
        """Its name, as in settings and receipts."""
        return self.resource.rpartition("/")[2]

    @property
    def fingerprint(self) -> str:
        """What its receipt has as its fingerprint."""
        return fingerprint(self.operation, canonical_json.canonical(dict(self.body)))

    def event(self, name: str, arrival_ms: int) -> dict[str, Any]:
        """The gateway's event of attempt `name`."""
        context = authorizer_context(
            tenantId=self.tenant, operationSettings=json.dumps({self.operation: dict(self.settings)})
        )
        headers = {} if self.key is None else {"idempotency-key": [self.key]}
        event = lead_event(dict(self.body), headers=headers, authorizer=context, arrival_ms=arrival_ms)
        event["requestContext"]["requestId"] = f"request-{name}"
        return event | {"resource": self.resource}


class NoSecrets:
    """No tenant has any."""

    def find(self, tenant_id: str, name: str) -> tuple[str, ...]:
        """See `SecretStore`."""
        del tenant_id, name
        return ()


class _NoSlots:
    def take(self, tenant_id: str, slot: str, booking: object) -> None:
        raise AssertionError(f"no slot in this scenario: {tenant_id}, {slot}, {booking}")


@cache
def silent() -> Logger:
    """A logger of which nothing is heard."""
    return Logger(service="proof", level="CRITICAL")


@contextmanager
def unmeasured() -> Iterator[None]:
    """Runs of the search are no requests: their metrics go nowhere."""
    with patch("handlers.adapters.metrics.emit", lambda *_: None):
        yield


def executed(sent: Sent, slots: Callable[[Any], Any] | None = None) -> Callable[[Life], dict[str, Any]]:
    """The program of a request that `execute` serves."""

    def program(life: Life) -> dict[str, Any]:
        dependencies = execute.Dependencies(
            settings=ExecuteSettings("local", "receipts", "slots", "/onceward/local/", (), None),
            store=AskingStore(life.ask),
            ports=Ports(
                AskingProvider(life.ask, life.name), slots(life.ask) if slots else _NoSlots(), NoSecrets()
            ),
            logger=silent(),
            clock_ms=life.clock_ms,
            randomness=life.randomness(),
        )
        return execute.respond(sent.event(life.name, life.started_ms), REMAINING_MS, dependencies)

    return program


def ingested(
    sent: Sent,
) -> Callable[[Life], dict[str, Any]]:
    """The program of a request that `ingest` serves."""

    def program(life: Life) -> dict[str, Any]:
        dependencies = ingest.Dependencies(
            settings=IngestSettings("local", "receipts", ()),
            store=AskingStore(life.ask),
            logger=silent(),
            clock_ms=life.clock_ms,
            randomness=life.randomness(),
        )
        return ingest.ingest(sent.event(life.name, life.started_ms), dependencies)

    return program
