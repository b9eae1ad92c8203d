"""`POST /v1/payments`: one charge at the tenant's payment provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from handlers.domain.operation import ExecuteOperation
from handlers.domain.payment_provider import ProviderOptions, charging
from handlers.operations.schema import MAX_AMOUNT, Currency, Line, PydanticSchema

if TYPE_CHECKING:
    from handlers.domain.caller import OperationSettings
    from handlers.domain.effect import Effect
    from handlers.domain.operation import Ports


class Payment(BaseModel):
    """What a payment must be. Fields that are not named here pass through to the record."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    amount: Annotated[int, Field(ge=1, le=MAX_AMOUNT)]
    currency: Currency
    paymentMethod: Line  # noqa: N815 - the API's spelling
    reference: Line | None = None
    description: Annotated[str, Field(max_length=1000)] | None = None


def _bind(ports: Ports) -> Effect:
    return charging(ports.outbound, ports.secrets)


def _require_provider(settings: OperationSettings) -> None:
    ProviderOptions.of(settings)


def _pin(settings: OperationSettings) -> str:
    return ProviderOptions.of(settings).pin


PAYMENTS = ExecuteOperation(
    name="payments",
    permission="payments:create",
    record_name="payment",
    event_type="payment.created",
    path="/v1/payments/{id}",
    schema=PydanticSchema(Payment),
    bind=_bind,
    require=_require_provider,
    pin=_pin,
    answered=("status", "amount", "currency", "chargeId"),
)
