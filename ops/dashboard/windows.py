"""Which stretch of time a page shows, and in periods of how many seconds. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RANGES: Final = {"5m": 300, "15m": 900, "1h": 3600, "3h": 10800, "all": None}
"""What can be chosen, in seconds; None: from the first point there is to the last."""

DEFAULT_RANGE: Final = "15m"
"""Of a platform that runs: long enough for the whole of a demo, short enough to see what happens now."""

WHOLE: Final = "all"
"""The range of everything."""

PERIODS: Final = ("auto", "written", "fine")
"""`written`: as each widget says, which is what AWS shows; `fine`: 10 s; `auto`: fine while the stretch of
time is short and the body does not forbid it."""

DEFAULT_PERIOD: Final = "auto"
"""As AWS does with a dashboard that does not forbid it: short periods for short stretches of time."""

_FINE_SECONDS: Final = 10
"""CloudWatch's shortest period for a graph that still says something at a hundred requests a second."""

_SHORT_SECONDS: Final = 1800
"""Up to here `auto` is fine: a point each 10 s makes 180, two or three pixels apart in a narrow widget."""

_SHORTEST_SECONDS: Final = 300
"""Of `all`: a run of half a minute is not stretched over the whole width."""

_SECOND_MS: Final = 1000
"""The store's resolution: what it says of the last point is the beginning of its second."""

_MOST_POINTS: Final = 1440
"""CloudWatch's own limit for one line of a graph; longer stretches get longer periods."""


@dataclass(frozen=True, slots=True)
class Window:
    """From `start_ms` (inclusive) to `end_ms` (exclusive), in ms since the epoch."""

    start_ms: int
    end_ms: int

    @property
    def seconds(self) -> int:
        """Its length, rounded up to whole seconds."""
        return -(-(self.end_ms - self.start_ms) // 1000)


def window(name: str, span: tuple[int, int] | None, now_ms: int | None) -> Window:
    """The stretch of time that a range's name means.

    Args:
        name: of RANGES. span: first and last second (ms) with points; None: there are none.
        now_ms: where a range ends; None: nothing is added any more, and it ends with the last point.
    """
    over = span[1] + _SECOND_MS if span else 0
    end = over if now_ms is None else now_ms
    seconds = RANGES[name]
    if seconds is not None:
        return Window(end - seconds * 1000, end)
    first = span[0] if span else end
    return Window(min(first, end - _SHORTEST_SECONDS * 1000), end)


def period(choice: str, written: int, shown: Window, *, inherit: bool) -> int:
    """In periods of how many seconds a widget is drawn.

    Args:
        choice: of PERIODS. written: the widget's own. inherit: the body asks to keep that.
    """
    if choice == "fine" or (choice == "auto" and not inherit and shown.seconds <= _SHORT_SECONDS):
        seconds = min(written, _FINE_SECONDS)
    else:
        seconds = written
    while shown.seconds / seconds > _MOST_POINTS:
        seconds *= 5 if seconds == 1 else 2
    return seconds


def aligned(shown: Window, seconds: int) -> Window:
    """The window moved out to whole periods since the epoch, so that a point does not change its period."""
    step = seconds * 1000
    return Window(shown.start_ms // step * step, -(-shown.end_ms // step) * step)
