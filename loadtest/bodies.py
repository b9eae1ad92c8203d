"""What a storm sends: plain, synthetic, different for every key and variant; and where its receipt lives."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from loadtest.history import hash_of
from loadtest.operations import APPOINTMENTS, LEADS, ORDERS, PAYMENTS, WEBHOOKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadtest.schedule import PlannedRequest

# Padding that brings a lead to some 600 bytes of JSON, the size that issue 2 measures a receipt by.
_MESSAGE = (
    "We run four warehouses and are looking for a way to take in orders from partners who send each of them "
    "more than once. Please call in the morning; we would like to see how this behaves under load. " * 2
)

_COMPANIES = ("Alder Freight", "Birch Supplies", "Cedar Retail", "Dogwood Clinics", "Elm Logistics")
# Every so manieth payment is one that its provider declines: any five payments in a row have one.
_DECLINED_EVERY = 5
# The payment method that the stand-in of a provider declines.
_DECLINED_METHOD, _GOOD_METHOD = "pm_declined", "pm_card"
# Far ahead, so that no rule about the past can meet a storm's appointments.
_FIRST_SLOT = datetime(2035, 1, 1, tzinfo=UTC)
_HOUR = timedelta(hours=1)


def body(mark: str, request: PlannedRequest) -> dict[str, Any]:
    """The body of a request.

    Args:
        mark: the run's key prefix; it is in the body, so that what the platform stored can be told apart.
        request: the same subject is the same body under every tenant; variant 0 belongs to the key, and
            others are what a reuse of the key sends.
    """
    return _BODIES[request.operation](mark, request)


def text(mark: str, request: PlannedRequest) -> str:
    """The body as it is sent: JSON in ASCII."""
    return json.dumps(body(mark, request))


def body_hash(mark: str, request: PlannedRequest) -> str:
    """SHA-256 (hex) of the canonical JSON of the body."""
    return _hash(mark, replace(request, tenant="", key=None, drop_after_ms=None))


def stored_key(mark: str, request: PlannedRequest) -> str:
    """Where the receipt of a request lives, after the tenant: its own key, or one that the platform derives.

    Spelt out here and not imported: the checker must notice when the platform changes it.
    """
    if request.key is not None:
        return request.key
    if request.operation == WEBHOOKS.name:
        return f" {WEBHOOKS.name}:{request.source}:{event_id(mark, request)}"
    if request.operation == APPOINTMENTS.name:
        sent = body(mark, request)
        fields = [sent[name] for name in ("doctorId", "patientId", "startsAt")]
        return f" {APPOINTMENTS.name}:fields:{hash_of(fields)}"
    return derived_key(body_hash(mark, request))


def derived_key(lead: str) -> str:
    """Where a lead without a key lives, by the hash of its body."""
    return f" {LEADS.name}:body:{lead}"


def event_id(mark: str, request: PlannedRequest) -> str:
    """A webhook event's own id: the same one may come from two sources, and is two events then."""
    return f"evt_{mark}{request.subject}"


def slot(mark: str, request: PlannedRequest) -> str | None:
    """Which slot a request wants; None when it wants none."""
    return slot_of(body(mark, request)) if request.operation == APPOINTMENTS.name else None


def slot_of(appointment: dict[str, Any]) -> str | None:
    """Doctor and instant: what two patients cannot both have. None when there is no such thing in it."""
    try:
        instant = datetime.fromisoformat(appointment["startsAt"])
    except (KeyError, TypeError, ValueError):
        return None
    return f"{appointment.get('doctorId')} at {instant.astimezone(UTC).isoformat()}"


def is_declined(mark: str, request: PlannedRequest) -> bool:
    """Whether it is a payment that the provider must decline."""
    return request.operation == PAYMENTS.name and body(mark, request)["paymentMethod"] == _DECLINED_METHOD


# A body is asked for again while its chapter of the plan is sent (or checked): 500 to 999 keys, a few bodies
# each. More would be memory that grows with a long storm.
@lru_cache(maxsize=8_192)
def _hash(mark: str, request: PlannedRequest) -> str:
    digest = hash_of(body(mark, request))
    assert digest is not None, "a storm's bodies always have a canonical form"
    return digest


def _lead(mark: str, request: PlannedRequest) -> dict[str, Any]:
    subject, variant = request.subject, request.variant
    return {
        "email": f"{mark}{subject}@example.com",
        "name": f"Storm Lead {subject}",
        "company": _COMPANIES[subject % len(_COMPANIES)],
        "message": _MESSAGE if variant == 0 else f"Variant {variant}: {_MESSAGE}",
        "source": "storm",
        "reference": f"{mark}{subject}/{variant}",
    }


def _order(mark: str, request: PlannedRequest) -> dict[str, Any]:
    items = [
        {"sku": f"sku-{number}", "quantity": number + 1, "unitPrice": 250 * (request.subject % 7)}
        for number in range(1 + request.subject % 3)
    ]
    return {
        "customer": f"{mark}{request.subject}",
        "currency": "EUR",
        "items": items,
        "note": f"variant {request.variant}",
    }


def _payment(mark: str, request: PlannedRequest) -> dict[str, Any]:
    declined = request.subject % _DECLINED_EVERY == 0
    return {
        "amount": 1_000 + request.subject + 100_000 * request.variant,
        "currency": "JPY" if request.subject % 2 else "EUR",
        "paymentMethod": _DECLINED_METHOD if declined else _GOOD_METHOD,
        "reference": f"{mark}{request.subject}",
    }


def _appointment(mark: str, request: PlannedRequest) -> dict[str, Any]:
    """A rival asks for the slot of another subject, and says its instant with another offset."""
    wanted = request.subject if request.slot is None else request.slot
    instant = (_FIRST_SLOT + wanted * _HOUR).replace(tzinfo=None)
    own = f"{instant.isoformat()}Z"
    other = f"{(instant + _HOUR).isoformat()}+01:00"
    return {
        "doctorId": f"{mark}doctor-{wanted}",
        "patientId": f"{mark}patient-{request.subject}",
        "startsAt": own if request.slot is None else other,
        "reason": f"variant {request.variant}",
    }


def _webhook(mark: str, request: PlannedRequest) -> dict[str, Any]:
    return {
        "id": event_id(mark, request),
        "type": "form.submitted",
        "data": {"reference": f"{mark}{request.subject}", "attempt": request.variant},
    }


_BODIES: dict[str, Callable[[str, PlannedRequest], dict[str, Any]]] = {
    LEADS.name: _lead,
    ORDERS.name: _order,
    WEBHOOKS.name: _webhook,
    PAYMENTS.name: _payment,
    APPOINTMENTS.name: _appointment,
}
