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
# A function's work is shared by its workers, of which the busiest serve some ten thousand requests of a soak:
# 8 MB are some 800 bytes of each, less than the event that one is. Each worker is judged by itself.
WORKER: Final = Bound(8.0, "800 bytes a request of a worker that serves 10,000: no event is kept")
# A worker is started for its first call, for which it loads the last of its modules: its size is what it has
# then. It takes some tenths of a second, and longer on a machine that is busy with all of them.
_WORKER_STARTS_SECONDS: Final = 3.0
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
    "handlers (of each, the one that grew most)",
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
        # By process: an id is given again, so the time of its start belongs to it.
        self.workers: dict[tuple[int, float], Series] = {}
        self.series = {
            LOCUST: Series(LOCUST, SMALL),
            EMULATOR: Series(EMULATOR),
            STAND_IN: Series(STAND_IN),
        }

    def look(self, sent: int) -> None:
        """Take a sample of each when it is time. `sent`: requests so far."""
        if time.monotonic() - self._last < self._every:
            return
        self._last = time.monotonic()
        kinds = _by_kind()
        for worker in kinds.pop(HANDLERS):
            with suppress(psutil.Error):
                place = (worker.pid, worker.create_time())
                if time.time() - place[1] < _WORKER_STARTS_SECONDS:
                    continue
                series = self.workers.setdefault(place, Series(HANDLERS, WORKER))
                series.samples += [(sent, size) for size in _megabytes([worker])]
        for name, processes in kinds.items():
            sizes = list(_megabytes(processes))
            if sizes:
                self.series[name].samples.append((sent, max(sizes)))

    def growths(self, requests: int) -> list[Growth]:
        """What became of each; of the functions' workers, of the one that grew most."""
        locust, *others = (series.judge(requests) for series in self.series.values())
        return [locust, self._grown_most(requests), *others]

    def _grown_most(self, requests: int) -> Growth:
        """Of the workers with samples enough: one that came late or went early did not work long."""
        known = [one for one in (series.judge(requests) for series in self.workers.values()) if one.known]
        return max(known, key=lambda one: one.growth_mb, default=Series(HANDLERS, WORKER).judge(requests))


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
    began = 0.0
    process, begin = _started(imports, judging, words, quiet=quiet)
    try:
        with suppress(psutil.NoSuchProcess), open(begin, "wb") as gate:  # noqa: PTH123 - a descriptor
            judge = psutil.Process(process.pid)
            began = next(_megabytes([judge]), 0.0)
            gate.close()
            while process.poll() is None:
                sizes += _megabytes([judge])
                time.sleep(_JUDGE_SECONDS)
    finally:
        process.terminate()  # nothing, when it has ended
        process.wait()
    spread = [(requests * number // max(1, len(sizes) - 1), size) for number, size in enumerate(sizes)]
    # All of them: what it loads is there already, and a judge that hoards may do so at once.
    return Series(JUDGING, JUDGE, spread, began).judge(requests, warm_up=0.0)


def _started(
    imports: str, judging: str, words: Sequence[str], *, quiet: bool
) -> tuple[subprocess.Popen[bytes], int]:
    """A process that has loaded what it needs, and judges once the descriptor is closed."""
    loaded, told = os.pipe()  # the other end is closed when the modules are there, or the process is gone
    waits, begin = os.pipe()  # it waits for its end: until then we look at its size
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell; our own interpreter and code
            [sys.executable, "-c", _program(imports, told, waits, judging), *words],
            stdout=subprocess.DEVNULL if quiet else None,
            pass_fds=[told, waits],
        )
    finally:
        os.close(told)
        os.close(waits)
    with open(loaded, "rb") as pipe:  # noqa: PTH123 - a descriptor
        pipe.read()
    return process, begin


def _program(imports: str, told: int, waits: int, judging: str) -> str:
    return f"import os; {imports}; os.close({told}); os.read({waits}, 1); {judging}"


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
