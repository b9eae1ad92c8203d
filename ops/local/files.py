"""Files of the local platform's home: private to the user, and never half written."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ops.local.errors import HomeError, LocalPlatformError

PRIVATE_FILE = 0o600
"""Readable and writable by the user only: these files hold key values and admin credentials."""

PRIVATE_DIRECTORY = 0o700
"""As PRIVATE_FILE, for the directory that holds them."""


def private_directory(path: Path) -> Path:
    """Make the directory, and its parents, for the user alone; one that exists is tightened."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(PRIVATE_DIRECTORY)
    return path


def own_home(path: Path) -> Path:
    """As `private_directory`, of what the user gave as a home. Raises HomeError where none can be made."""
    try:
        return private_directory(path)
    except OSError as error:
        raise HomeError(f"{path}: it cannot be the platform's directory: {error.strerror}") from error


def write_private(path: Path, text: str) -> None:
    """Replace the file in one step; a reader sees the old text or the new, with mode 0600 from the start."""
    unfinished = path.with_name(path.name + ".new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def open_private_append(path: Path) -> int:
    """A descriptor that appends to the file, which is made with mode 0600 if it is not there."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in the file; None if there is no such file.

    Raises LocalPlatformError for text that is not a JSON object, HomeError for what cannot be read at all.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HomeError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise LocalPlatformError(f"{path}: not JSON ({error}); delete it, or start afresh") from error
    if not isinstance(value, dict):
        raise LocalPlatformError(f"{path}: not a JSON object; delete it, or start afresh")
    return value


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file for the block; a second holder is refused at once, in any process.

    The file holds the holder's process number, for the message to the second.

    Raises LocalPlatformError when another command holds it. The system drops the lock when its holder
    dies, so a lock never outlives a crash.
    """
    descriptor = open_private_append(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            pid = path.read_text(encoding="ascii").strip()
            who = f"another command (pid {pid})" if pid else "another command"
            raise LocalPlatformError(f"{who} is working on {path.parent}; wait for it") from error
        os.ftruncate(descriptor, 0)  # a killed holder's
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)
