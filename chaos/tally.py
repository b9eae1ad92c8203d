"""How many faults of each kind were injected, and which calls they met: names and numbers only."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from chaos.faults import Kind

if TYPE_CHECKING:
    from pathlib import Path


class Tally:
    """Counts faults; safe to use from several threads.

    Attributes:
        counts: by kind. calls: by function and service, how many calls came while faults were on.
        before, after: by function and service, what came at all before and after the restart.
        clocks: of each worker, its process and the seconds that its clock is off.
    """

    def __init__(self, log: Path) -> None:
        """`log`: a line for each fault: its kind, function, service, operation and number; never a body."""
        self.counts: Counter[Kind] = Counter()
        self.calls: Counter[tuple[str, str]] = Counter()
        self.before: Counter[tuple[str, str]] = Counter()
        self.after: Counter[tuple[str, str]] = Counter()
        self.restarted = False
        self.clocks: set[tuple[int, int]] = set()
        self._lock = threading.Lock()
        self._log = log.open("a", encoding="utf-8", buffering=1)

    def number(self, function: str, service: str) -> int:
        """The number of the call that has just come, from 0."""
        with self._lock:
            self.calls[function, service] += 1
            return self.calls[function, service] - 1

    def came(self, function: str, service: str) -> None:
        """A call has come."""
        with self._lock:
            (self.after if self.restarted else self.before)[function, service] += 1

    def add_clock(self, clock: tuple[int, int]) -> bool:
        """A worker says what its clock is; whether that is new."""
        with self._lock:
            known = clock in self.clocks
            self.clocks.add(clock)
            return not known

    def add(self, kind: Kind, *words: object, times: int = 1) -> None:
        """Count a fault that was injected. `words` say where, for the log."""
        with self._lock:
            self.counts[kind] += times
            self._log.write(" ".join(map(str, (kind.name, times, *words))) + "\n")

    @property
    def gap(self) -> int:
        """The seconds between the two workers whose clocks are furthest apart."""
        offsets = [seconds for _, seconds in self.clocks]
        return max(offsets) - min(offsets) if offsets else 0

    @property
    def missing(self) -> list[Kind]:
        """The kinds that were never injected: a run that lacks one proves nothing of it."""
        return [kind for kind in Kind if not self.counts[kind]]

    def close(self) -> None:
        """Close the log."""
        self._log.close()
