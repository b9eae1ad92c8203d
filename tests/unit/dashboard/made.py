"""A small store and small dashboards, made by hand: what each test draws is seen beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ops.observing.series import Point, SeriesName, Unit
from ops.observing.store import MetricStore

if TYPE_CHECKING:
    from pathlib import Path

# A whole hour, so that periods of any length begin with it.
BEGAN_MS = 1_750_000_000_000 // 3_600_000 * 3_600_000
SERVICE = "onceward-local_ingest"
TENANTS = ("acme", "globex")


def accepted(tenant: str | None = None) -> SeriesName:
    """The series of accepted requests, of all tenants together or of one."""
    dimensions = {"Service": SERVICE} if tenant is None else {"Service": SERVICE, "TenantId": tenant}
    return SeriesName.of("Onceward", "Accepted", dimensions)


def latency() -> SeriesName:
    return SeriesName.of("Onceward", "RequestLatency", {"Service": SERVICE})


def points() -> list[Point]:
    """Two minutes: each second two accepted requests of acme's and one of globex's, each of 10 to 13 ms."""
    made = []
    for second in range(120):
        at_ms = BEGAN_MS + second * 1000
        made += [
            Point(accepted(), Unit.COUNT, at_ms, 1, 3),
            Point(accepted("acme"), Unit.COUNT, at_ms, 1, 2),
            Point(accepted("globex"), Unit.COUNT, at_ms, 1, 1),
            Point(latency(), Unit.MILLISECONDS, at_ms, 10 + second % 4, 3),
        ]
    return made


def store(directory: Path) -> MetricStore:
    """A store of `points`."""
    made = MetricStore(directory / "metrics.sqlite")
    made.put_all(points())
    return made


def row(series: SeriesName, **options: object) -> list[object]:
    """A widget's row of a series."""
    dimensions = [part for pair in series.dimensions for part in pair]
    return [series.namespace, series.name, *dimensions, options]


def widget(
    kind: str = "metric", place: tuple[int, int, int, int] = (0, 0, 12, 6), **properties: object
) -> Any:
    """A widget of a body."""
    x, y, width, height = place
    return {"type": kind, "x": x, "y": y, "width": width, "height": height, "properties": properties}


def body(*widgets: Any, **fields: object) -> str:
    """A dashboard's body as text."""
    return json.dumps({"widgets": list(widgets), **fields})


def counts(**properties: Any) -> Any:
    """A widget of the accepted requests, per minute."""
    rows = [row(accepted(), stat="Sum", label="accepted")]
    return widget(**{"title": "Accepted", "period": 60, "metrics": rows, **properties})
