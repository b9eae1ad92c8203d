"""An outage is answered: the slowest calls that a function may make end before Lambda stops it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from handlers import read
from handlers.adapters import aws
from handlers.adapters.delivery import CALL_SECONDS
from handlers.adapters.work_batch import ITEM_MS
from handlers.domain import payment_provider
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
        # Claim, secret, and the release of what could not be sent; the next test has what was sent.
        ("execute", 0, 3),
        # It looks again for a young record until its patience ends; the look that meets the outage ends it.
        ("read", read._PATIENCE_MS / 1000, 1),
        # The registry and the secret, when neither is cached, and the receipt.
        ("webhooks", 0, 3),
        # Of one record: written, its work queued, published, and parked when that failed.
        ("dispatch", 0, 4),
        ("notify", 0, 1),
        # Of one piece of work: found, marked, sent.
        ("reconcile", 0, 3),
        # Of a batch of ten: nine destinations that hang, then one piece of work that takes all that it may.
        ("deliver", 9 * CALL_SECONDS + ITEM_MS / 1000 - MARGIN, 0),
        # Of one order: claim, registry, secret, destination, event bus, mark, pause.
        ("fulfil", CALL_SECONDS, 6),
    ],
)
def test_the_slowest_calls_fit_the_function_s_timeout(
    function: FunctionName, before_the_last_call: float, calls: int
) -> None:
    assert before_the_last_call + calls * SLOWEST_CALL + MARGIN <= TIMEOUTS[function]


def test_whoever_waits_for_a_provider_leaves_time_for_the_slowest_write() -> None:
    assert payment_provider._WRITE_SECONDS >= SLOWEST_CALL + MARGIN
