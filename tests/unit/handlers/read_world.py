"""`read` over stores in memory and a clock that tests move, and events as the gateway sends them."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from aws_lambda_powertools import Logger

from handlers.domain import ids
from handlers.read import Dependencies, read
from handlers.settings import ReadSettings
from tests.builders import HOUR_MS, NOW_MS, authorizer_context

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt

ORIGIN = "https://www.acme.example"
_LOGGERS = itertools.count()


def record_id(created_at_ms: int, tenant: str = "acme") -> str:
    return ids.record_id(tenant, "k", "generation", created_at_ms)


OLD_ID, NEW_ID = record_id(NOW_MS - HOUR_MS), record_id(NOW_MS - 200)


@dataclass
class World:
    """Stores, clock and log of one test. `appears_at`: when a record becomes visible, by id (ms)."""

    documents: dict[tuple[str, str, str], str] = field(default_factory=dict)
    receipts: dict[tuple[str, str], Receipt] = field(default_factory=dict)
    appears_at: dict[str, int] = field(default_factory=dict)
    error: Exception | None = None
    now: int = NOW_MS
    looks: int = 0
    log: io.StringIO = field(default_factory=io.StringIO)

    def document(self, tenant_id: str, operation: str, record_id: str) -> str | None:
        self.looks += 1
        if self.error is not None:
            raise self.error
        if self.appears_at.get(record_id, 0) > self.now:
            return None
        return self.documents.get((tenant_id, operation, record_id))

    def find(self, tenant_id: str, key: str) -> Receipt | None:
        self.looks += 1
        if self.error is not None:
            raise self.error
        return self.receipts.get((tenant_id, key))

    def sleep(self, pause_ms: int) -> None:
        self.now += pause_ms

    def get(self, event: dict[str, Any]) -> dict[str, Any]:
        dependencies = Dependencies(
            settings=ReadSettings("dev", "receipts", "records", (ORIGIN,)),
            records=self,
            receipts=self,
            logger=Logger(service=f"read-{next(_LOGGERS)}", level="INFO", stream=self.log),
            clock_ms=lambda: self.now,
            sleep_ms=self.sleep,
        )
        return read(event, dependencies)


def get_event(
    resource: str,
    parameters: dict[str, str],
    *,
    headers: dict[str, str] | None = None,
    authorizer: dict[str, str] | None = None,
) -> dict[str, Any]:
    """A REST API proxy event as AWS sends it: path parameters percent-encoded, no `version`."""
    sent = headers or {}
    return {
        "resource": resource,
        "path": resource,
        "httpMethod": "GET",
        "headers": sent,
        "multiValueHeaders": {name: [value] for name, value in sent.items()},
        "queryStringParameters": None,
        "pathParameters": parameters,
        "requestContext": {
            "requestId": "gateway-request-id",
            "requestTimeEpoch": NOW_MS,
            "authorizer": authorizer or authorizer_context(),
        },
        "body": None,
        "isBase64Encoded": False,
    }


def lead(record: str, **more: Any) -> dict[str, Any]:
    return get_event("/v1/leads/{id}", {"id": record}, **more)


def key(text: str, **more: Any) -> dict[str, Any]:
    return get_event("/v1/receipts/{key+}", {"key": quote(text, safe="/")}, **more)


def problem(answer: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(answer["body"])
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    assert body["status"] == answer["statusCode"]
    return body
