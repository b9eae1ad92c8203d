"""How long a key stands for its request."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

# Shorter than 10 s and a client's own retry (after a time-out) is taken for a new request.
MIN_WINDOW_SECONDS: Final = 10
# 30 days, the longest window of any operation: receipts are kept, and paid for, that long.
MAX_WINDOW_SECONDS: Final = 30 * 86_400
DAY_SECONDS: Final = 86_400
# A duplicate of a payment that still runs is told to come again when its lease is over, 33 s at most, plus
# what such a client, the network and a cold start take. When it comes the window must still be open, or it is
# a new payment, and a second charge.
MIN_PAYMENT_WINDOW_SECONDS: Final = 60

Window = Annotated[
    int,
    Field(ge=MIN_WINDOW_SECONDS, le=MAX_WINDOW_SECONDS, description="How long a key stands for a request."),
]


def _outlasts_a_retry(seconds: int) -> int:
    if seconds < MIN_PAYMENT_WINDOW_SECONDS:
        raise PydanticCustomError(
            "payment_window",
            "must be at least {least}: a duplicate that waits as long as it is told to (Retry-After) would "
            "come after a shorter window, and be charged a second time",
            {"least": MIN_PAYMENT_WINDOW_SECONDS},
        )
    return seconds


PaymentWindow = Annotated[
    Window,
    AfterValidator(_outlasts_a_retry),
    Field(json_schema_extra={"minimum": MIN_PAYMENT_WINDOW_SECONDS}),
]
"""A window that is longer than a payment can take."""
