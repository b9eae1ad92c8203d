"""How long work shows on a terminal, and in a log, how far it is and how long it will take."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Without a terminal: no line sooner than this after the last one, and none for less than a hundredth of the
# work, so that half an hour is a hundred lines.
_LINE_SECONDS, _LINE_PARTS = 2.0, 100
# The time left is worked out of the last two minutes: a storm begins slowly, with cold starts.
_ESTIMATE_SECONDS = 120.0


@contextmanager
def progress_bar(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error; without a terminal, a line now and then. Give it (done, total)."""
    console = Console(stderr=True, quiet=quiet)
    if not console.is_terminal:
        yield _plain(console, what)
        return
    columns = (
        TextColumn(what),
        BarColumn(40),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, speed_estimate_period=_ESTIMATE_SECONDS) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _plain(console: Console, what: str) -> Callable[[int, int], None]:
    last, said = 0.0, 0
    estimate = TimeLeft()

    def say(done: int, total: int) -> None:
        nonlocal last, said
        now = time.monotonic()
        left = estimate.seconds(now, done, total)
        due = now - last > _LINE_SECONDS and abs(done - said) >= total / _LINE_PARTS
        if due or (done == total and done != said):
            last, said = now, done
            console.print(f"{what}: {done:,} of {total:,}{_told(left)}")

    return say


class TimeLeft:
    """How long work will still take at its pace of the last minutes."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, int]] = []

    def seconds(self, now: float, done: int, total: int) -> float | None:
        """None while nobody can tell. `now`: seconds by a clock that only goes forward."""
        # One mark a second is enough, and keeps the list short.
        if not self._seen or now - self._seen[-1][0] >= 1.0:
            self._seen.append((now, done))
        self._seen = [one for one in self._seen if now - one[0] <= _ESTIMATE_SECONDS]
        since, before = self._seen[0] if self._seen else (now, done)
        return None if done <= before else (total - done) * (now - since) / (done - before)


def _told(seconds: float | None) -> str:
    if not seconds:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f", about {minutes} min {rest:02} s left" if minutes else f", about {rest} s left"
