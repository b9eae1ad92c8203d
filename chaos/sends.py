"""When each message that was sent can be seen: overtaking is counted where it happens, not where it may."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


class Sends:
    """The messages of some queues; safe to use from several threads.

    Attributes:
        delay: seconds that these queues hold back what is sent now; None while that is being changed.
    """

    def __init__(self, queues: Collection[str], clock: Callable[[], float] = time.monotonic) -> None:
        """`queues`: by name, those that `delay` is true of. `clock`: seconds from any moment."""
        self.delay: int | None = 0
        self._queues = frozenset(queues)
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[str, float] = {}

    def overtakes(self, queue: str, delay: int | None) -> bool:
        """Note a message that was just sent; whether it is seen before one that was sent earlier.

        Args:
            delay: what `delay` was when it was sent. One that was sent while it changed says nothing.
        """
        if queue not in self._queues or delay is None:
            return False
        with self._lock:
            if delay != self.delay:
                return False
            seen, last = self._clock() + delay, self._last.get(queue, float("-inf"))
            self._last[queue] = max(seen, last)
            return seen < last
