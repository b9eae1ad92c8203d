"""What a right platform answers and stores for each operation, for stories and for the fake platform."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from loadtest.operations import (
    APPOINTMENTS,
    DECLINED,
    IN_PROGRESS,
    LEADS,
    ORDERS,
    PAYMENTS,
    SLOT_TAKEN,
    WEBHOOKS,
)

if TYPE_CHECKING:
    from loadtest.operations import Operation

CREATED_AT = "2026-01-01T00:00:00.000Z"
PROBLEM = {"Content-Type": "application/problem+json"}
FINAL_TYPES = {402: DECLINED, 409: SLOT_TAKEN}
# Status, headers, body.
Answered = tuple[int, dict[str, str], bytes]


def charge_id(record_id: str) -> str:
    return f"ch_{record_id}"


def document(operation: Operation, record_id: str, sent: dict[str, Any], source: str | None = None) -> str:
    """The record of a request."""
    described = {"source": source, "eventId": sent.get("id")} if operation is WEBHOOKS else {}
    made = {"id": record_id, "createdAt": CREATED_AT, **described, operation.record_name: sent}
    derived = {"chargeId": charge_id(record_id)} if operation is PAYMENTS else {}
    return json.dumps({**made, **derived})


def first_answer(operation: Operation, record_id: str, sent: dict[str, Any]) -> Answered:
    """The first answer to a request."""
    body = {"id": record_id, "createdAt": CREATED_AT, **_answered(operation, record_id, sent)}
    if operation is WEBHOOKS:
        body = {"accepted": True, "duplicate": False}
    headers = {"Content-Type": "application/json", "Location": f"{operation.read_path}/{record_id}"}
    return operation.first, headers, json.dumps(body).encode()


def _answered(operation: Operation, record_id: str, sent: dict[str, Any]) -> dict[str, Any]:
    members: dict[str, dict[str, Any]] = {
        LEADS.name: {"score": {"score": 10}},
        ORDERS.name: {"status": "ACCEPTED"},
        PAYMENTS.name: {
            "status": "succeeded",
            "amount": sent.get("amount"),
            "currency": sent.get("currency"),
            "chargeId": charge_id(record_id),
        },
        APPOINTMENTS.name: {"status": "booked", "doctorId": sent.get("doctorId")},
        WEBHOOKS.name: {},
    }
    return members[operation.name]


def final_refusal(status: int, correlation_id: str) -> Answered:
    """A refusal that stands."""
    body = {"type": FINAL_TYPES[status], "status": status, "correlationId": correlation_id}
    return status, PROBLEM, json.dumps(body).encode()


def in_progress() -> Answered:
    body = {"type": IN_PROGRESS, "status": 409}
    return 409, {**PROBLEM, "Retry-After": "3"}, json.dumps(body).encode()


def again(operation: Operation, first: Answered) -> Answered:
    """The answer to a duplicate of what was answered with `first`."""
    status, headers, body = first
    if operation is WEBHOOKS:
        return 200, headers, b'{"accepted":true,"duplicate":true}'
    return status, {**headers, "Idempotent-Replayed": "true"}, body


def as_announced(operation: Operation, stored: str) -> str:
    """The data of an event: of an order it is told when it is completed, and says so."""
    return as_read(operation, stored) if operation.name == "orders" else stored


def as_read(operation: Operation, stored: str) -> str:
    """What a GET of a record answers."""
    return stored if operation.done is None else f'{stored[:-1]},"status":"{operation.done}"}}'
