"""What one call of each operation asks of AWS, counted at the wire."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.operations import Operations
from bench.units import Consumed, Units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.local_aws import Clients
    from bench.wire import Wire


class Counted(NamedTuple):
    """One call: the requests in their order, and the capacity units of those to DynamoDB."""

    requests: tuple[str, ...]
    units: Consumed


class Meter:
    """Counts what a call asks of AWS, through a tap and clients that connect to it."""

    def __init__(self, wire: Wire, clients: Clients) -> None:
        self.wire = wire
        self._units = Units(clients.dynamodb)

    def count(self, call: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], Counted]:
        """Make a call, and return its answer with what it asked."""
        self.wire.take(), self._units.take()
        answer = call()
        return answer, Counted(tuple(self.wire.take()), self._units.take())


def count_operations(meter: Meter, clients: Clients) -> dict[tuple[str, str], Counted]:
    """Operation and job -> what one call asks.

    The jobs: `fresh`, `duplicate`, and `first`, the first fresh call of an environment where that has to read
    something that the later ones do not (a tenant's config, a secret: both are kept for a minute). Raises
    RuntimeError when an answer is not what the job's should be.
    """
    operations = Operations(clients)
    saving = Operations(clients, checkpoint=True)
    counted: dict[tuple[str, str], Counted] = {}
    for name, operation, environment in (
        ("leads", "leads", operations),
        ("orders", "orders", operations),
        ("payments", "payments", operations),
        ("payments with checkpoint", "payments", saving),
        ("appointments", "appointments", operations),
        ("webhooks", "webhooks", operations),
    ):
        environment.begin()
        jobs = dict(_jobs(meter, environment, operation))
        if jobs["first"].requests == jobs["fresh"].requests:
            del jobs["first"]
        counted |= {(name, job): each for job, each in jobs.items()}
    return counted


def _jobs(meter: Meter, environment: Operations, operation: str) -> Iterator[tuple[str, Counted]]:
    # Of a UUID's length, as callers' keys are: the units of an item depend on it.
    first, other = str(uuid.uuid4()), str(uuid.uuid4())
    for job, key in (("first", first), ("fresh", other), ("duplicate", other)):
        answer, counted = meter.count(partial(environment.answer, environment.event(operation, key)))
        if (answer["statusCode"], _replayed(answer)) not in _GOOD[job]:
            raise RuntimeError(f"{operation}, {job}: answered {answer['statusCode']}: {answer['body']}")
        yield job, counted


def _replayed(answer: dict[str, Any]) -> bool:
    return "Idempotent-Replayed" in answer["headers"]


_MADE = ((201, False), (202, False))
# A sender of webhooks hears of a duplicate as 200 (DESIGN section 2); everybody else gets the first answer.
_GOOD = {
    "first": _MADE,
    "fresh": _MADE,
    "duplicate": ((201, True), (202, True), (200, False)),
}
