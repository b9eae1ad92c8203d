"""Series and stores for the tests of what is observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.observing.series import Point, SeriesName, Unit

if TYPE_CHECKING:
    from ops.observing.store import MetricStore

MINUTE_MS: Final = 60_000
# A whole minute of the epoch, so that minutes of the tests are minutes of the clock.
START: Final = 1_700_000_040_000
END: Final = START + 3 * MINUTE_MS


def accepted(service: str = "ingest", tenant: str | None = None, name: str = "Accepted") -> SeriesName:
    dimensions = {"Service": service} | ({} if tenant is None else {"TenantId": tenant})
    return SeriesName.of("Onceward", name, dimensions)


def put(store: MetricStore, series: SeriesName, *minutes: float | None, unit: Unit = Unit.COUNT) -> None:
    """One value a minute from `START` on; None: none in that minute."""
    store.put_all(
        Point(series, unit, START + minute * MINUTE_MS, value)
        for minute, value in enumerate(minutes)
        if value is not None
    )
