"""What callers and senders send in the measurements: one REST API (v1) proxy event per operation."""

from __future__ import annotations

import hmac
import json
import time
import uuid
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

TENANT: Final = "bench"
SOURCE: Final = "stripe"
"""The tenant's one sender of webhooks: it signs as Stripe does, the costliest of the proofs."""

OPERATIONS: Final = ("leads", "orders", "payments", "appointments", "webhooks")

_WEBHOOK_BYTES: Final = 600
# Leads and webhooks have the 600 bytes of the README's other figures; the rest is what such requests are.
_BODIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "leads": {"name": "Ada Lovelace", "email": "ada@analytical.example", "message": "m" * 526},
    "orders": {
        "customer": "c-1",
        "currency": "EUR",
        "items": [{"sku": "tea", "quantity": 2, "unitPrice": 450, "note": "loose"}],
    },
    "payments": {"amount": 1999, "currency": "EUR", "paymentMethod": "pm_card", "reference": "order-7"},
    "appointments": {"patientId": "p-1", "startsAt": "2031-01-01T10:00:00+01:00"},
}


def body_of(operation: str, key: str) -> dict[str, Any]:
    """A body; where an operation takes its key from the body, `key` is in it."""
    if operation == "webhooks":
        bare = len(json.dumps({"id": key, "text": ""}))
        return {"id": key, "text": "m" * (_WEBHOOK_BYTES - bare)}
    derived = {"doctorId": key} if operation == "appointments" else {}
    return {**_BODIES[operation], **derived}


def event_of(
    operation: str,
    key: str,
    body: object = None,
    *,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The event of a request that arrives now.

    Args:
        operation: one of those that an API key calls, such as `payments`.
        key: the idempotency key.
        body: as sent; None for that of `body_of`.
        settings: the tenant's `operationSettings`, by operation.
    """
    headers = {"content-type": "application/json", "idempotency-key": key}
    context = {
        "authorizer": {
            "tenantId": TENANT,
            "tier": "bench",
            "keyName": "bench",
            "operations": "*",
            "origins": "",
            "bodyLimitBytes": "131072",
            "operationSettings": json.dumps(settings or {}),
        }
    }
    sent = body_of(operation, key) if body is None else body
    return _event(f"/v1/{operation}", headers, json.dumps(sent), _now_ms(), context)


def webhook_event(event: Mapping[str, Any], secret: str) -> dict[str, Any]:
    """A webhook that arrives now, signed now (docs.stripe.com/webhooks/signature)."""
    sent, now = json.dumps(event), _now_ms()
    mac = hmac.digest(secret.encode(), f"{now // 1000}.{sent}".encode(), "sha256")
    headers = {
        "content-type": "application/json",
        "stripe-signature": f"t={now // 1000},v1={mac.hex()}",
    }
    made = _event("/v1/webhooks/{tenant}/{source}", headers, sent, now, {})
    return made | {"pathParameters": {"tenant": TENANT, "source": SOURCE}}


def _event(
    resource: str, headers: dict[str, str], body: str, arrival_ms: int, context: dict[str, Any]
) -> dict[str, Any]:
    return {
        "resource": resource,
        "httpMethod": "POST",
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "body": body,
        "isBase64Encoded": False,
        "requestContext": {"requestId": uuid.uuid4().hex, "requestTimeEpoch": arrival_ms, **context},
    }


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
