"""Log and metrics of the functions under test, thrown away: a million runs would fill a disk."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class Nowhere(io.StringIO):
    """A stream that keeps nothing."""

    def write(self, text: str) -> int:
        """Take it."""
        return len(text)  # and nothing is kept of it


_NOWHERE = Nowhere()


def logger(name: str) -> Logger:
    """A logger for one function, made once a process: Powertools keeps one handler a name."""
    return Logger(service=f"fuzz-{name}", level="INFO", stream=_NOWHERE)


def quietly() -> AbstractContextManager[object]:
    """Where metrics go, which are printed."""
    return redirect_stdout(_NOWHERE)
