"""The 429s of a storm, from its own record: the gateway answers them itself, and nothing here logs them."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from ops.observing.answered import Answered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# In a line of the history (loadtest.history), which is written without spaces.
_MARK: Final = f'"status":{HTTPStatus.TOO_MANY_REQUESTS.value},'.encode()


class ThrottledAnswers:
    """Follows the history of a run, whose files grow while it is sent. `run`: its directory."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self._read: dict[Path, int] = {}  # bytes

    def new(self) -> Iterator[Answered]:
        """The 429s that were recorded since the last call. A last line without its end waits for the next."""
        for path in sorted(self.run.glob("history-*.jsonl")):
            with path.open("rb") as lines:
                lines.seek(self._read.get(path, 0))
                for line in lines:
                    if not line.endswith(b"\n"):
                        break
                    self._read[path] = self._read.get(path, 0) + len(line)
                    if _MARK in line:
                        yield _answered(line)


def _answered(line: bytes) -> Answered:
    attempt = json.loads(line)
    latency_ms = float(attempt["endMs"]) - float(attempt["startMs"])
    return Answered(
        int(attempt["startMs"]),
        HTTPStatus.TOO_MANY_REQUESTS,
        attempt["tenant"],
        latency_ms,
        refusal="THROTTLED",
    )
