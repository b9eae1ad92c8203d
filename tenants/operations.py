"""A tenant's settings per operation."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from tenants.destinations import BaseUrl, Destination
from tenants.expressions import Expression
from tenants.file_model import FileModel
from tenants.text import distinct
from tenants.tiers import MAX_BODY_BYTES, MIN_BODY_BYTES
from tenants.webhooks import WebhooksSettings
from tenants.windows import DAY_SECONDS, MAX_WINDOW_SECONDS, MIN_PAYMENT_WINDOW_SECONDS, PaymentWindow, Window

# A lease is what is left of the invocation, at most the `execute` function's time-out, plus 5 s for skew
# (DESIGN section 7); a test compares it with infra's figure.
LONGEST_LEASE_SECONDS: Final = 33
# How far the clocks of a worker and of a provider may be apart, the same margin.
SKEW_SECONDS: Final = 5
# A window is judged by the arrival at the gateway, a lease begins when a worker does: the gateway waits 29 s
# for it at most, and one for the clocks.
START_SECONDS: Final = 30
APPOINTMENT_WINDOW_SECONDS: Final = 10
APPOINTMENT_KEY_FIELDS: Final = ("doctorId", "patientId", "startsAt")
# With their lengths, what keeps the authorizer's context small.
_MAX_KEY_FIELDS: Final = 5

BodyLimit = Annotated[
    int | None,
    Field(
        ge=MIN_BODY_BYTES,
        le=MAX_BODY_BYTES,
        description="Largest body; lowers the tier's limit, never raises it.",
    ),
]


class LeadsSettings(FileModel):
    """How the tenant's leads are deduplicated."""

    window_seconds: Window = DAY_SECONDS
    key_source: Annotated[
        Literal["header-or-body", "header"],
        Field(
            description="'header' refuses requests without Idempotency-Key; "
            "'header-or-body' falls back to the SHA-256 of the body."
        ),
    ] = "header-or-body"
    body_limit_bytes: BodyLimit = None


class OrdersSettings(FileModel):
    """How the tenant's orders are deduplicated, and where each is put when it is worked off."""

    window_seconds: Window = DAY_SECONDS
    key_source: Annotated[
        Literal["header", "header-or-body"],
        Field(description="As of leads; two equal orders within the window are one with 'header-or-body'."),
    ] = "header"
    body_limit_bytes: BodyLimit = None
    destination: Annotated[
        Destination | None, Field(description="Left out: to the event bus and the tenant's topic only.")
    ] = None


class PaymentsSettings(FileModel):
    """The tenant's payment provider. Without this section the tenant takes no payments (403)."""

    provider_url: Annotated[
        BaseUrl, Field(description="POST <providerUrl>/charges makes a charge; https only.")
    ]
    checkpoint: Annotated[
        bool, Field(description="Save the charge's id before the answer: one more write, one look-up less.")
    ] = False
    lookup: Annotated[
        bool, Field(description="Whether the provider can be asked for a charge by its key.")
    ] = True
    honours_seconds: Annotated[
        int,
        Field(
            ge=60, le=MAX_WINDOW_SECONDS, description="How long the provider remembers an idempotency key."
        ),
    ] = DAY_SECONDS
    window_seconds: PaymentWindow = DAY_SECONDS
    body_limit_bytes: BodyLimit = None

    @model_validator(mode="after")
    def _resumes_while_the_provider_remembers(self) -> Self:
        longest = self.honours_seconds - START_SECONDS - LONGEST_LEASE_SECONDS - SKEW_SECONDS
        if not self.lookup and longest < MIN_PAYMENT_WINDOW_SECONDS:
            raise _forgetful(self.honours_seconds)
        if not self.lookup and self.window_seconds > longest:
            raise PydanticCustomError(
                "honours",
                "windowSeconds must be at most {longest} without lookup: honoursSeconds {honours} - start "
                "{start} - lease {lease} - skew {skew} (is {window}); later, an interrupted payment could "
                "neither be sent again nor looked up",
                {
                    "longest": longest,
                    "honours": self.honours_seconds,
                    "start": START_SECONDS,
                    "lease": LONGEST_LEASE_SECONDS,
                    "skew": SKEW_SECONDS,
                    "window": self.window_seconds,
                },
            )
        return self


def _forgetful(honours: int) -> PydanticCustomError:
    """No window at all is short enough."""
    return PydanticCustomError(
        "honours",
        "honoursSeconds must be at least {least} without lookup: the shortest windowSeconds {window} + start "
        "{start} + lease {lease} + skew {skew} (is {honours}); later, an interrupted payment could neither "
        "be sent again nor looked up",
        {
            "least": MIN_PAYMENT_WINDOW_SECONDS + START_SECONDS + LONGEST_LEASE_SECONDS + SKEW_SECONDS,
            "window": MIN_PAYMENT_WINDOW_SECONDS,
            "start": START_SECONDS,
            "lease": LONGEST_LEASE_SECONDS,
            "skew": SKEW_SECONDS,
            "honours": honours,
        },
    )


class AppointmentsSettings(FileModel):
    """Which members of a request make it the same one, and for how long."""

    window_seconds: Window = APPOINTMENT_WINDOW_SECONDS
    key_fields: Annotated[
        tuple[Expression, ...],
        Field(min_length=1, max_length=_MAX_KEY_FIELDS, description="JMESPath over the body."),
        AfterValidator(distinct),
    ] = APPOINTMENT_KEY_FIELDS
    body_limit_bytes: BodyLimit = None


class Operations(FileModel):
    """Settings per operation; each has defaults, but for payments, which need a provider."""

    leads: LeadsSettings = LeadsSettings()
    orders: OrdersSettings = OrdersSettings()
    payments: PaymentsSettings | None = None
    appointments: AppointmentsSettings = AppointmentsSettings()
    webhooks: WebhooksSettings = WebhooksSettings(sources={})
