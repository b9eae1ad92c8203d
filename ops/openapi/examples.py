"""A body for each operation that takes one, as a newcomer would send it."""

from __future__ import annotations

from typing import Any, Final

BODIES: Final[dict[str, dict[str, Any]]] = {
    "leads": {"name": "Ada Lovelace", "email": "ada@analytical.example", "company": "Analytical Engines"},
    "orders": {
        "customer": "Ada Lovelace",
        "currency": "EUR",
        "items": [{"sku": "gear-12", "quantity": 2, "unitPrice": 1250}],
    },
    "payments": {"amount": 4200, "currency": "EUR", "paymentMethod": "pm_card", "reference": "invoice-7"},
    "appointments": {
        "doctorId": "dr-grey",
        "patientId": "patient-7",
        "startsAt": "2030-01-15T09:30:00+01:00",
    },
    "webhooks": {"id": "evt_1", "type": "form.submitted", "data": {"name": "Ada Lovelace"}},
}
"""By operation; one that is not here has no example. A test sends each through its schema."""
