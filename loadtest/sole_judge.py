"""One judge of a run at a time: a second would take away what the first one has gathered."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from typing import TYPE_CHECKING

from loadtest.run import open_private

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadtest.run import RunDirectory


class JudgedAlready(Exception):
    """Another process judges this run now."""


@contextmanager
def sole_judge(directory: RunDirectory) -> Iterator[None]:
    """Hold the run's lock for the block. The system drops it when its holder dies.

    Raises:
        JudgedAlready: somebody holds it; nothing of the run was touched.
    """
    with open_private(directory.path / "judging.lock", "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JudgedAlready(
                f"the run in {directory.path} is being judged by another command: wait for its verdict"
            ) from error
        yield
