"""DynamoDB's capacity units, from what the functions say they did: the local AWS measures none.

The units are those of one call, as `make bench` counts them at the wire for items of usual size (README,
"Measured"; a test holds the two together). What a line does not tell of is not in it: retries, reconcile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from infra import metrics
from ops.observing.naming import of_metric
from ops.observing.series import Point, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from infra.naming import Names
    from ops.observing.invocations import Invocation

ORIGIN: Final = "worked out here from the functions' log lines, at the units counted at the wire for one call"

TAKEN: Final[Mapping[str, Mapping[str, float]]] = {
    "leads": {"receipts": 2},
    "orders": {"receipts": 1},
    "webhooks": {"receipts": 2},
    "payments": {"receipts": 3},
    "appointments": {"receipts": 3, "slots": 1},
}
"""Write units of a request that takes effect, by operation and table."""

DUPLICATE: Final[Mapping[str, float]] = {
    "leads": 2,
    "orders": 1,
    "webhooks": 2,
    "payments": 2,
    "appointments": 2,
}
"""Write units, on receipts, of one that meets a receipt: the claim that was refused."""

_FIRST: Final = frozenset({"accepted", "final_refusal", "effect_failed", "effect_unknown"})
_SECOND: Final = frozenset({"replayed", "in_progress", "mismatch"})
# By function and outcome. A record is one write, and its worker's claim and mark are two more.
_OUTWARD: Final[Mapping[tuple[str, str], float]] = {
    ("dispatch", "dispatched"): 1,
    ("deliver", "done"): 2,
    ("fulfil", "done"): 2,
}
# Strongly consistent reads of one item of up to 4 KB.
_READS: Final[Mapping[tuple[str, str], str]] = {
    ("authorizer", "allowed"): "tenants",
    ("authorizer", "suspended"): "tenants",
    ("authorizer", "unknown_key"): "tenants",
    ("read", "answered"): "records",
}


def points(invocation: Invocation, content: Mapping[str, Any], names: Names) -> Iterator[Point]:
    """The units that a log line stands for."""
    outcome, operation = str(content.get("outcome")), str(content.get("operation"))
    for table, units in _written(invocation.function, operation, outcome).items():
        series = of_metric(metrics.table(names, table, "ConsumedWriteCapacityUnits"))
        yield Point(series, Unit.COUNT, invocation.started_ms, units, origin=ORIGIN)
    read = _READS.get((invocation.function, outcome))
    if read is not None:
        series = of_metric(metrics.table(names, read, "ConsumedReadCapacityUnits"))
        yield Point(series, Unit.COUNT, invocation.started_ms, 1, origin=ORIGIN)


def _written(function: str, operation: str, outcome: str) -> Mapping[str, float]:
    if outcome in _FIRST:
        return TAKEN.get(operation, {})
    if outcome in _SECOND and operation in DUPLICATE:
        return {"receipts": DUPLICATE[operation]}
    units = _OUTWARD.get((function, outcome))
    return {} if units is None else {"records": units}
