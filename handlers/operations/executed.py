"""The operations in execute mode, found by the REST resource that they serve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from handlers.operations.appointments import APPOINTMENTS
from handlers.operations.payments import PAYMENTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.operation import ExecuteOperation

BY_RESOURCE: Final[Mapping[str, ExecuteOperation]] = {
    "/v1/payments": PAYMENTS,
    "/v1/appointments": APPOINTMENTS,
}
