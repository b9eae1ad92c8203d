"""How long a key stands for its request."""

from typing import Annotated, Final

from pydantic import Field

# Shorter than 10 s and a client's own retry (after a time-out) is taken for a new request.
MIN_WINDOW_SECONDS: Final = 10
# 30 days, the longest window of any operation: receipts are kept, and paid for, that long.
MAX_WINDOW_SECONDS: Final = 30 * 86_400
DAY_SECONDS: Final = 86_400

Window = Annotated[
    int,
    Field(ge=MIN_WINDOW_SECONDS, le=MAX_WINDOW_SECONDS, description="How long a key stands for a request."),
]
