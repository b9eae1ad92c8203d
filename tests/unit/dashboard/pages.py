"""A source of hand-made dashboards, and a site that serves them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from ops.dashboard.drawing import AlarmShown, Seen
from ops.dashboard.site import serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.observing.store import MetricStore


class MadeSource:
    """Dashboards and alarms as given, over a store that the maker closes."""

    title = "Made by hand"

    def __init__(
        self,
        store: MetricStore,
        bodies: Mapping[str, str],
        alarms: Mapping[str, AlarmShown] | None = None,
        now_ms: int | None = None,
    ) -> None:
        self.live = now_ms is not None
        self.now_ms = now_ms
        self.told: str | None = None
        self._store = store
        self._bodies = bodies
        self._alarms = alarms or {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        return

    def bodies(self) -> Mapping[str, str]:
        return self._bodies

    def seen(self) -> Seen:
        return Seen(self._store, self._alarms, self.now_ms)

    def notice(self) -> str | None:
        return self.told


@contextmanager
def site(source: MadeSource) -> Iterator[str]:
    """Serve it on a free port; the value is the address."""
    with serving(source, 0) as address:
        yield address
