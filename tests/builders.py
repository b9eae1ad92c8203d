"""Receipts, claims and events with sensible parts; a test names only what it is about."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from handlers.domain.protocol import Claim
from handlers.domain.receipt import Outbox, Receipt, Status, StoredResponse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NOW_MS = 1_796_000_000_000
HOUR_MS = 3_600_000
FINGERPRINT = "a" * 64

LEAD = {"name": "Ada Lovelace", "email": "ada@analytical.example"}


def claim(**changes: Any) -> Claim:
    """A claim of tenant `acme` for key `k` at NOW_MS."""
    base = Claim(
        tenant_id="acme",
        key="k",
        operation="leads",
        fingerprint=FINGERPRINT,
        owner="owner-new",
        arrival_ms=NOW_MS,
        clock_ms=NOW_MS,
    )
    return replace(base, **changes)


def receipt(**changes: Any) -> Receipt:
    """A completed receipt of tenant `acme` for key `k`, its window open for another hour."""
    base = Receipt(
        tenant_id="acme",
        key="k",
        operation="leads",
        fingerprint=FINGERPRINT,
        status=Status.COMPLETED,
        owner="owner-old",
        generation="generation-old",
        lease_until=0,
        created_at=NOW_MS - HOUR_MS,
        expires_at=NOW_MS + HOUR_MS,
        purge_at=NOW_MS // 1000 + 8 * 86_400,
        correlation_id="correlation-old",
        response=StoredResponse(
            201, {"Content-Type": "application/json", "Location": "/v1/leads/R"}, '{"id":"R"}'
        ),
        outbox=Outbox("EVENT", "lead.created", "R", '{"id":"R"}'),
    )
    return replace(base, **changes)


def in_progress(**changes: Any) -> Receipt:
    """A claim that its owner has not finished, its lease good for another second."""
    unfinished = receipt(status=Status.IN_PROGRESS, response=None, outbox=None, lease_until=NOW_MS + 1_000)
    return replace(unfinished, **changes)


def authorizer_context(**changes: str) -> dict[str, str]:
    """What the authorizer hands on for tenant `acme`, key `server`."""
    return {
        "tenantId": "acme",
        "tier": "pro",
        "keyName": "server",
        "operations": "*",
        "origins": "",
        "bodyLimitBytes": "131072",
        "operationSettings": "{}",
    } | changes


def lead_event(
    body: object = None,
    *,
    raw: str | bytes | None = None,
    headers: Mapping[str, Sequence[str]] | None = None,
    authorizer: Mapping[str, str] | None = None,
    arrival_ms: int = NOW_MS,
) -> dict[str, Any]:
    """A REST API (v1) proxy event for `POST /v1/leads`; `raw` bytes travel as base64, as on AWS."""
    sent = json.dumps(LEAD if body is None else body) if raw is None else raw
    multiple = {"content-type": ["application/json"]} | {k: list(v) for k, v in (headers or {}).items()}
    encoded = base64.b64encode(sent).decode() if isinstance(sent, bytes) else sent
    return {
        "resource": "/v1/leads",
        "path": "/v1/leads",
        "httpMethod": "POST",
        "headers": {name: values[-1] for name, values in multiple.items() if values},
        "multiValueHeaders": multiple,
        "pathParameters": None,
        "requestContext": {
            "requestId": "gateway-request-id",
            "requestTimeEpoch": arrival_ms,
            "authorizer": dict(authorizer or authorizer_context()),
        },
        "body": encoded,
        "isBase64Encoded": isinstance(sent, bytes),
    }
