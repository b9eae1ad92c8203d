"""An outage is answered: the slowest calls that a function may make end before Lambda stops it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from handlers import read
from handlers.adapters import aws
from infra.timeouts import TIMEOUTS

if TYPE_CHECKING:
    from infra.settings import FunctionName

# botocore's standard mode waits rand(0, 1) * 2 ** (n - 1) seconds before retry n (retries.standard).
PAUSES = sum(2.0**retry for retry in range(aws._ATTEMPTS - 1))
SLOWEST_CALL = aws._ATTEMPTS * (aws._CONNECT_SECONDS + aws._READ_SECONDS) + PAUSES
# Parsing, logging and answering take milliseconds; a worker that was frozen in the middle needs a moment.
MARGIN = 0.5


@pytest.mark.parametrize(
    ("function", "before_the_last_call", "calls"),
    [
        ("authorizer", 0, 1),
        ("ingest", 0, 1),
        # It looks again for a young record until its patience ends; the look that meets the outage ends it.
        ("read", read._PATIENCE_MS / 1000, 1),
        # The registry and the secret, when neither is cached, and the receipt.
        ("webhooks", 0, 3),
        # Of one record: written, published, and parked when that failed.
        ("dispatch", 0, 3),
    ],
)
def test_the_slowest_calls_fit_the_function_s_timeout(
    function: FunctionName, before_the_last_call: float, calls: int
) -> None:
    assert before_the_last_call + calls * SLOWEST_CALL + MARGIN <= TIMEOUTS[function]
