"""Draws the dashboards of a source, one at a time, for as long as the source is there."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ops.dashboard.body import BodyError
from ops.dashboard.drawing import draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.dashboard.drawing import Asked
    from ops.dashboard.sources import Source


class NoDashboard(LookupError):
    """There is no dashboard of that name; the message has the names of those that there are."""


class Ended(RuntimeError):
    """The source is no longer there to be asked."""


class Drawer:
    """Answers what the page asks. One drawing at a time: two cores have more to do than race each other."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._ended = False

    def end(self) -> None:
        """Wait for the drawing that goes on; from then on the source is not asked: it may end."""
        with self._lock:
            self._ended = True

    def listing(self) -> dict[str, Any]:
        """What there is: `title`, `live`, and the names of the `dashboards`. Raises Ended."""
        with self._asking():
            names = list(self._source.bodies())
        return {"title": self._source.title, "live": self._source.live, "dashboards": names}

    def dashboard(self, name: str, asked: Asked) -> dict[str, Any]:
        """One dashboard drawn. Raises NoDashboard, BodyError (it has the name), BrokenMetrics, Ended."""
        with self._asking():
            bodies = self._source.bodies()
            if name not in bodies:
                raise NoDashboard(f"there is no dashboard {name!r}; there are {', '.join(bodies) or 'none'}")
            try:
                drawn = draw(bodies[name], self._source.seen(), asked)
            except BodyError as error:
                raise BodyError(f"{self._source.title}, dashboard {name}.json: {error}") from error
            return {"name": name, **drawn, "live": self._source.live, "notice": self._source.notice()}

    @contextmanager
    def _asking(self) -> Iterator[None]:
        with self._lock:
            if self._ended:
                raise Ended("this server is about to end")
            yield
