"""Takes a storm's events off the audit queues while it runs, so that they do not fill up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from loadtest.collect import AuditQueues

# Twenty queues with a dozen or two messages each are emptied in a few seconds of a busy local AWS; who looks
# more often finds most of them empty, and each look costs a request.
_EVERY_SECONDS: Final = 20.0


class AuditDrain:
    """Empties the queues now and then; what it leaves, `verify` takes."""

    def __init__(self, queues: AuditQueues) -> None:
        self._queues = queues
        self._last = time.monotonic()
        self.taken = 0  # events
        self.missed = 0  # looks at which the queues could not be read

    def to_json(self) -> dict[str, int]:
        """What came of it."""
        return {"taken": self.taken, "missed": self.missed}

    def look(self) -> None:
        """Empty them when it is time. A queue that does not answer now is left for the next look."""
        if time.monotonic() - self._last < _EVERY_SECONDS:
            return
        try:
            self.taken += self._queues.drain(0)
        except (BotoCoreError, ClientError):
            self.missed += 1
        self._last = time.monotonic()
