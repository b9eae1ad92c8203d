"""Samples the resident memory of a soak's processes: those that send, serve and judge."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import psutil

from ops.memory import Bound, Series

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ops.memory import Growth

# 16 MB over the 180,000 requests of a soak after its warm-up are 90 bytes a request: less than any object
# that something keeps of each takes, and more than the allocator's own unrest (some MB).
SMALL: Final = Bound(16.0, "90 bytes a request of 180,000: nothing is kept of each")
# What a judge must know of each key is a number of bytes a key; it may not hold the attempts, the receipts,
# the records or the events of the run (each of which is 100 MB and more at 200,000 requests).
JUDGE: Final = Bound(64.0, "3 KB for each of 20,000 keys: no attempt, receipt, record or event is kept")

_MEGABYTE: Final = 1e6
# So many samples of a storm, and one in five seconds at the most: a look at a hundred processes takes 20 ms.
_SAMPLES: Final = 60
_MOST_SECONDS: Final = 5.0
# Of the judge, which takes a minute or two for a soak and seconds for a small one.
_JUDGE_SECONDS: Final = 0.2

LOCUST, HANDLERS, EMULATOR, STAND_IN, JUDGING = (
    "locust",
    "handlers (the largest)",
    "local AWS (MiniStack)",
    "stand-in of provider and CRM",
    "judge (verify)",
)
# What the command line of a child of ours has in it.
_WORDS: Final = {LOCUST: "--run-dir", EMULATOR: "ministack", STAND_IN: "ops.local.stand_in"}


class MemoryWatch:
    """Watches the processes that this one has started, and the functions' own below the local AWS."""

    def __init__(self, expected_seconds: float) -> None:
        """`expected_seconds`: how long the storm will take."""
        self._every = min(_MOST_SECONDS, expected_seconds / _SAMPLES)
        self._last = -self._every
        self.series = {
            LOCUST: Series(LOCUST, SMALL),
            HANDLERS: Series(HANDLERS, SMALL),
            EMULATOR: Series(EMULATOR),
            STAND_IN: Series(STAND_IN),
        }

    def look(self, sent: int) -> None:
        """Take a sample of each when it is time. `sent`: requests so far."""
        if time.monotonic() - self._last < self._every:
            return
        self._last = time.monotonic()
        for name, processes in _by_kind().items():
            sizes = list(_megabytes(processes))
            if sizes:
                self.series[name].samples.append((sent, max(sizes)))

    def growths(self, requests: int) -> list[Growth]:
        """What became of each."""
        return [series.judge(requests) for series in self.series.values()]


def watch_judge(imports: str, judging: str, words: Sequence[str], requests: int, *, quiet: bool) -> Growth:
    """Judge in a process of its own, and sample that until it ends.

    Its size begins to count when its modules are loaded. How far it is nobody outside can see: its samples
    are laid evenly over the requests that it judges.

    Args:
        imports, judging: Python that loads what it needs, and that judges.
        words: its arguments.
        requests: how many it judges.
        quiet: throw away what it prints.
    """
    sizes: list[float] = []
    loaded, told = os.pipe()  # the other end is closed when the modules are there, or the process is gone
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell; our own interpreter and code
            [sys.executable, "-c", f"import os; {imports}; os.close({told}); {judging}", *words],
            stdout=subprocess.DEVNULL if quiet else None,
            pass_fds=[told],
        )
    finally:
        os.close(told)
    with open(loaded, "rb") as pipe:  # noqa: PTH123 - a descriptor
        pipe.read()
    try:
        with suppress(psutil.NoSuchProcess):
            judge = psutil.Process(process.pid)
            while process.poll() is None:
                sizes += _megabytes([judge])
                time.sleep(_JUDGE_SECONDS)
    finally:
        process.terminate()  # nothing, when it has ended
        process.wait()
    spread = [(requests * number // max(1, len(sizes) - 1), size) for number, size in enumerate(sizes)]
    return Series(JUDGING, JUDGE, spread).judge(requests)


def _by_kind() -> dict[str, list[psutil.Process]]:
    found: dict[str, list[psutil.Process]] = {LOCUST: [], HANDLERS: [], EMULATOR: [], STAND_IN: []}
    for process in psutil.Process().children():
        with suppress(psutil.Error):
            line = process.cmdline()
            kind = next((name for name, word in _WORDS.items() if word in line), None)
            if kind is not None:
                found[kind].append(process)
            if kind == EMULATOR:
                found[HANDLERS] += process.children(recursive=True)
    return found


def _megabytes(processes: Iterable[psutil.Process]) -> Iterator[float]:
    for process in processes:
        with suppress(psutil.Error):
            size = process.memory_info().rss
            if size:  # a zombie has none
                yield size / _MEGABYTE
