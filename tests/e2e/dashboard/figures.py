"""Made-up figures for every metric that dashboards read: twenty minutes, no two of them the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from handlers.domain.metric_catalogue import BY_FUNCTION, NAMESPACE
from infra.dashboards.tenant import ANY
from infra.widgets import MetricReference, references
from ops.observing.series import Point, SeriesName, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BEGAN_MS: Final = 1_750_000_000_000 // 3_600_000 * 3_600_000
MINUTES: Final = 20
TENANTS: Final = ("acme", "bluebird", "cobalt", "storm-a", "storm-b", "storm-c")

# What a query leaves open, and what it may find there.
_OPEN: Final = {"TenantId": TENANTS, "Operation": ("leads", "orders", "payments", "appointments")}
_STEP_MS: Final = 10_000
_TIMED: Final = {"Latency", "IntegrationLatency", "Duration", "IteratorAge"} | {
    each.name for emitted in BY_FUNCTION.values() for each in emitted if each.unit == "Milliseconds"
}


def points(bodies: Iterable[str]) -> Iterator[Point]:
    """A point each ten seconds for each series that one of the bodies reads."""
    found = {series for body in bodies for each in references(body) for series in _series(each)}
    for number, series in enumerate(sorted(found)):
        unit = _unit(series)
        for step in range(MINUTES * 60_000 // _STEP_MS):
            wave = 1 + math.sin(step / 9 + number)
            value = 40 + 30 * wave if unit is Unit.MILLISECONDS else round(wave * (3 + number % 7))
            yield Point(series, unit, BEGAN_MS + step * _STEP_MS, value)


def _series(reference: MetricReference) -> Iterator[SeriesName]:
    """The series of a reference, with values for what it leaves open or for the tenant that is chosen."""
    sets = [dict(reference.dimensions)]
    for name in sorted(reference.dimension_names):
        given = [each for each in sets if ANY not in str(each.get(name, ANY))]
        opened = [each for each in sets if each not in given]
        sets = given + [
            {**each, name: each[name].replace(ANY, value) if name in each else value}
            for each in opened
            for value in _OPEN.get(name, TENANTS)
        ]
    for dimensions in sets:
        yield SeriesName.of(reference.namespace, reference.name, dimensions)


def _unit(series: SeriesName) -> Unit:
    if series.name in _TIMED:
        return Unit.MILLISECONDS
    if series.namespace != NAMESPACE and "Age" in series.name:
        return Unit.SECONDS
    return Unit.BYTES if "Bytes" in series.name else Unit.COUNT
