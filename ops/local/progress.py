"""Whether the last `up` of a home came to its end: a file is there for as long as it did not."""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import psutil

from ops.local.errors import InvalidInputError, LocalPlatformError
from ops.local.files import read_json, write_private
from ops.local.process import ProcessId


class Progress:
    """The mark that an `up` leaves in the home from its beginning to its good end.

    It is a file, and not the state's own journal, because a kill can fall between any two resources, or
    after the last of them and before the outputs are written.
    """

    def __init__(self, home: Path) -> None:
        self._mark = home / "unfinished.json"

    @contextlib.contextmanager
    def of_up(self) -> Iterator[None]:
        """Mark the block as unfinished unless it ends well; wrong input leaves the mark as it was before."""
        before = self._mark.read_text(encoding="utf-8") if self._mark.exists() else None
        self._write(failed=False)
        try:
            yield
        except InvalidInputError:  # nothing was made: what ran before runs on, whole or not
            self._restore(before)
            raise
        except LocalPlatformError:
            self._write(failed=True)
            raise
        self._mark.unlink()

    def clear(self) -> None:
        """Forget that an `up` did not end: nothing of it is there any more."""
        self._mark.unlink(missing_ok=True)

    def unfinished(self) -> str | None:
        """What is to be said of an `up` that did not end, or has not yet; None if it did."""
        mark = read_json(self._mark)
        if mark is None:
            return None
        if ProcessId(**mark["process"]).running() is not None:
            return f"`make up` is at work (pid {mark['process']['pid']}); wait for it"
        return f"the last `make up` {'failed' if mark['failed'] else 'was interrupted'}; run it again"

    def _write(self, *, failed: bool) -> None:
        process = ProcessId(os.getpid(), psutil.Process().create_time())
        write_private(self._mark, json.dumps({"process": asdict(process), "failed": failed}))

    def _restore(self, before: str | None) -> None:
        if before is None:
            self._mark.unlink()
        else:
            write_private(self._mark, before)
