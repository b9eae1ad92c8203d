"""What the platform asks of AWS for one request, and what it has: counted, never guessed.

A step is one call of one function with everything it asks. The figures are those of the real functions:
tests/integration/test_cost_of_requests.py runs each operation from its request to the last thing that follows
from it, and fails when a figure here is another (README, "Measured", has the same requests). What the program
has is tied to its registered resources by tests/infra/test_observability.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Step:
    """One call of a function.

    Attributes:
        function: its name.
        writes: DynamoDB write units, those of the index of pending work with them.
        reads: DynamoDB read units.
        sends: messages put on a queue of work.
        publishes: events published on a topic.
        events: events put on the bus.
        log_bytes: what the function logs, its metrics with it (EMF is a log line).
        stores: bytes that it leaves in a table.
    """

    function: str
    writes: float = 0
    reads: float = 0
    sends: int = 0
    publishes: int = 0
    events: int = 0
    log_bytes: int = 0
    stores: int = 0


# Leads and webhooks of 600 bytes, payments, appointments and orders as such requests are (bench/requests.py).
# A write of up to 1 KB is a unit, so a body of 2 KB costs a unit or two more.
FRESH: Final[Mapping[str, tuple[Step, ...]]] = {
    "leads": (
        Step("ingest", writes=2, log_bytes=1_100, stores=1_550),
        Step("dispatch", writes=1, publishes=1, log_bytes=720, stores=1_000),
    ),
    "orders": (
        Step("ingest", writes=1, log_bytes=1_100, stores=900),
        Step("dispatch", writes=2, sends=1, log_bytes=720, stores=500),
        Step("fulfil", writes=4, reads=0.5, events=1, log_bytes=810),
        Step("notify", publishes=1, log_bytes=580),
    ),
    "payments": (
        Step("execute", writes=3, log_bytes=1_210, stores=1_050),
        Step("dispatch", writes=1, publishes=1, log_bytes=720, stores=450),
    ),
    "appointments": (
        Step("execute", writes=4, log_bytes=1_210, stores=1_250),
        Step("dispatch", writes=1, publishes=1, log_bytes=720, stores=450),
    ),
    "webhooks": (
        Step("webhooks", writes=2, reads=0.5, log_bytes=1_120, stores=1_450),
        Step("dispatch", writes=3, sends=1, publishes=1, log_bytes=720, stores=1_050),
        Step("deliver", writes=5, reads=0.5, log_bytes=810),
    ),
}
"""By operation: every step of a request that takes effect, with what follows from it. Reads of config, which
functions keep for a minute, are counted for every request: seldom and of many tenants, they are."""

DUPLICATE: Final[Mapping[str, Step]] = {
    "leads": Step("ingest", writes=2, log_bytes=1_100),
    "orders": Step("ingest", writes=1, log_bytes=1_100),
    "payments": Step("execute", writes=2, log_bytes=1_210),
    "appointments": Step("execute", writes=2, log_bytes=1_210),
    "webhooks": Step("webhooks", writes=2, reads=0.5, log_bytes=1_150),
}
"""By operation: a duplicate, which its receipt answers."""

AUTHORIZE: Final = Step("authorizer", reads=1, log_bytes=310)
"""Once an API key and cache time."""

RECONCILE: Final = Step("reconcile", reads=8, log_bytes=1_590)
"""Once a minute, whether or not there is work: a query of each shard of the index of pending work."""

OPERATIONS: Final = tuple(FRESH)
KEYED: Final = frozenset({"leads", "orders", "payments", "appointments"})
"""Those that an API key calls: the authorizer looks it up (senders of webhooks have none)."""

MEMORY_MB: Final = 512
"""Of each function."""
TAKEN_QUEUES: Final = 3
"""Queues that functions take from: each is polled day and night."""
ACCESS_LOG_BYTES: Final = 500
"""A line of the API's access log, with every value at its usual length."""
