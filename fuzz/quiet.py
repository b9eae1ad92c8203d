"""Log and metrics of the functions under test, thrown away: a million runs would fill a disk."""

from __future__ import annotations

import io
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger

from fuzz.target import hearing

if TYPE_CHECKING:
    from collections.abc import Iterator


class Nowhere(io.StringIO):
    """A stream that keeps nothing."""

    def write(self, text: str) -> int:
        """Take it."""
        return len(text)  # and nothing is kept of it


_NOWHERE = Nowhere()


def logger(name: str) -> Logger:
    """A logger for one function, made once a process: Powertools keeps one handler a name."""
    return Logger(service=f"fuzz-{name}", level="INFO", stream=_NOWHERE)


@contextmanager
def quietly() -> Iterator[None]:
    """Where a handler runs: metrics, which are printed, go nowhere, and no broken promise is swallowed."""
    with redirect_stdout(_NOWHERE), hearing():
        yield
