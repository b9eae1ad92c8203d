"""The operations that an API key calls, as the rows of the contract's section 3 need them."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from tests.builders import LEAD
from tests.e2e.api import fresh_key

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from tests.e2e.api import Api

_minutes = itertools.count(1)


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        body: a valid body that no other call has made.
        variants: further valid members, each making another valid request.
        other: members that make another request of the same key (a field that is no part of a key).
        invalid: bodies that fail validation, with the fields that must be named.
        answered: the members of the first answer.
        member: the member of the record that holds the request.
        keyed: the key is the header's, and required.
        function: the Lambda function that answers a POST.
    """

    name: str
    status: int
    body: Callable[[], dict[str, Any]]
    variants: tuple[dict[str, Any], ...]
    other: dict[str, Any]
    invalid: tuple[tuple[object, set[str]], ...]
    answered: frozenset[str]
    member: str
    keyed: bool
    function: str

    @property
    def path(self) -> str:
        """Where it is sent."""
        return f"/v1/{self.name}"

    def send(self, api: Api, body: object = None, key: str | None = None, **more: Any) -> httpx.Response:
        """POST `body` (or a fresh one) under `key` (or a fresh one, where a key is needed)."""
        if self.keyed and key is None and "headers" not in more:
            key = fresh_key()
        sent = self.body() if body is None and "raw" not in more else body
        return api.post(sent, idempotency_key=key if self.keyed else None, path=self.path, **more)


def _appointment() -> dict[str, Any]:
    # Minutes from a moment far ahead: no two tests want the same slot.
    starts = datetime(2031, 1, 1, tzinfo=UTC) + timedelta(minutes=next(_minutes))
    return {"doctorId": "dr-grey", "patientId": fresh_key("patient"), "startsAt": starts.isoformat()}


LEADS: Final = Operation(
    name="leads",
    status=201,
    body=lambda: {**LEAD, "mark": fresh_key()},
    variants=({"n": 1},),
    other={"company": "Analytical Engines"},
    invalid=(({}, {"/name"}),),
    answered=frozenset({"id", "createdAt", "score"}),
    member="lead",
    keyed=True,
    function="ingest",
)
ORDERS: Final = Operation(
    name="orders",
    status=202,
    body=lambda: {
        "customer": fresh_key("customer"),
        "currency": "EUR",
        "items": [{"sku": "tea", "quantity": 2, "unitPrice": 450}],
    },
    variants=(
        {},
        {"note": "Žofie 😀", "n": 12345678901234567890},
        {"items": [{"sku": f"sku-{n}", "quantity": n, "unitPrice": 0} for n in range(1, 40)]},
    ),
    other={"note": "ring twice"},
    invalid=(
        ({}, {"/customer", "/currency", "/items"}),
        ({"customer": "c", "currency": "EUR", "items": []}, {"/items"}),
        (
            {"customer": "c", "currency": "XXXX", "items": [{"sku": "a", "quantity": 0, "unitPrice": 1.5}]},
            {"/currency", "/items/0/quantity", "/items/0/unitPrice"},
        ),
    ),
    answered=frozenset({"id", "createdAt", "status"}),
    member="order",
    keyed=True,
    function="ingest",
)
PAYMENTS: Final = Operation(
    name="payments",
    status=201,
    body=lambda: {"amount": 1999, "currency": "EUR", "paymentMethod": "pm_card", "reference": fresh_key()},
    variants=({}, {"amount": 1, "currency": "JPY"}, {"description": "Žofie's tea", "extra": {"n": 1.50}}),
    other={"amount": 2000},
    invalid=(
        ({}, {"/amount", "/currency", "/paymentMethod"}),
        ({"amount": 0, "currency": "eur", "paymentMethod": "pm_card"}, {"/amount", "/currency"}),
        (
            {"amount": 19.99, "currency": "ZZZ", "paymentMethod": ""},
            {"/amount", "/currency", "/paymentMethod"},
        ),
        ({"amount": "1999", "currency": "EUR", "paymentMethod": "pm_card"}, {"/amount"}),
    ),
    answered=frozenset({"id", "createdAt", "status", "amount", "currency", "chargeId"}),
    member="payment",
    keyed=True,
    function="execute",
)
APPOINTMENTS: Final = Operation(
    name="appointments",
    status=201,
    body=_appointment,
    variants=({}, {"reason": "Žofie's knee"}, {"insurance": {"n": 1.50}}),
    other={"reason": "a second opinion"},
    invalid=(
        ({}, {"/doctorId", "/patientId", "/startsAt"}),
        ({"doctorId": "d", "startsAt": "2031-01-01T10:00:00Z"}, {"/patientId"}),
        ({"doctorId": "d", "patientId": "p", "startsAt": "2031-01-01T10:00:00"}, {"/startsAt"}),
        ({"doctorId": 7, "patientId": "", "startsAt": "soon"}, {"/doctorId", "/patientId", "/startsAt"}),
    ),
    answered=frozenset({"id", "createdAt", "status", "doctorId", "startsAt"}),
    member="appointment",
    keyed=False,
    function="execute",
)
BESIDE_LEADS: Final = (ORDERS, PAYMENTS, APPOINTMENTS)
KEYED: Final = (ORDERS, PAYMENTS)


def text(body: object) -> bytes:
    """A body as JSON, with blanks and its members in another order: the same request."""
    assert isinstance(body, dict)
    turned = dict(reversed(list(body.items())))
    return b"\r\n" + json.dumps(turned, indent=1).encode() + b"\t"
