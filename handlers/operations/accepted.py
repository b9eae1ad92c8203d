"""The operations in accept mode that an API key calls, found by the REST resource that they serve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from handlers.operations.leads import LEADS
from handlers.operations.orders import ORDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.operation import AcceptOperation

BY_RESOURCE: Final[Mapping[str, AcceptOperation]] = {
    "/v1/leads": LEADS,
    "/v1/orders": ORDERS,
}
