"""`POST /v1/orders`: an order, accepted once; its work follows from a queue (`domain.work`)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from handlers.domain.operation import AcceptOperation
from handlers.operations.schema import MAX_AMOUNT, Currency, Line, PydanticSchema

# A wholesaler's line, and a bound that keeps the sum of all lines exact.
_MAX_QUANTITY = 1_000_000
_MAX_ITEMS = 100


class Item(BaseModel):
    """One line of an order; `unitPrice` in minor units of the order's currency."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    sku: Line
    quantity: Annotated[int, Field(ge=1, le=_MAX_QUANTITY)]
    unitPrice: Annotated[int, Field(ge=0, le=MAX_AMOUNT)]  # noqa: N815 - the API's spelling


class Order(BaseModel):
    """What an order must be. Fields that are not named here pass through to the record."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    customer: Line
    currency: Currency
    items: Annotated[list[Item], Field(min_length=1, max_length=_MAX_ITEMS)]


ORDERS = AcceptOperation(
    name="orders",
    permission="orders:create",
    record_name="order",
    event_type="order.completed",
    path="/v1/orders/{id}",
    schema=PydanticSchema(Order),
    derive=lambda _: {},
    answered=("status",),
    answer="accepted",
)
