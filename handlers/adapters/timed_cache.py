"""What was read a moment ago, kept in the function's environment."""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Value = TypeVar("Value")

# DESIGN section 3 and the operators' guide: a suspension or a new secret is everywhere within a minute.
KEPT_SECONDS: Final = 60.0
# Whoever sprays names must not fill the memory: at about 4 KB for a tenant's config this is 2 MB, and more
# tenants than one environment meets in a minute.
MAX_ENTRIES: Final = 512


class TimedCache(Generic[Value]):
    """A bounded cache; what was used least recently leaves first. Failures are never kept.

    Attributes:
        reads: how many values were loaded in the life of this process.
    """

    def __init__(self, clock_seconds: Callable[[], float] = time.time, entries: int = MAX_ENTRIES) -> None:
        # The wall clock: a monotonic one may stand still while Lambda keeps an environment frozen, and what
        # was read before the pause would be believed after it.
        self._clock = clock_seconds
        self._most = entries
        self._kept: OrderedDict[Hashable, tuple[float, float, Value]] = OrderedDict()
        # Workers share a cache between threads. Two that miss at once both read, which harms nobody.
        self._lock = Lock()
        self.reads = 0

    def get(
        self, key: Hashable, load: Callable[[], Value], kept_seconds: Callable[[Value], float] | None = None
    ) -> Value:
        """The value of `key`, from `load` unless it was loaded a moment ago; raises what `load` raises.

        Args:
            kept_seconds: how long a value is good; KEPT_SECONDS for each when None.
        """
        now = self._clock()
        with self._lock:
            kept = self._kept.get(key)
            # A clock that was set back makes the age negative: unknown, so it is read again.
            if kept is not None and 0 <= now - kept[0] < kept[1]:
                self._kept.move_to_end(key)
                return kept[2]
            self.reads += 1
        value = load()
        good_for = KEPT_SECONDS if kept_seconds is None else kept_seconds(value)
        with self._lock:
            self._kept[key] = (now, good_for, value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return value

    def peek(self, key: Hashable) -> Value | None:
        """The value that was loaded last, however old it is; None when there is none."""
        with self._lock:
            kept = self._kept.get(key)
        return None if kept is None else kept[2]

    def __len__(self) -> int:
        """How many values are kept."""
        return len(self._kept)
