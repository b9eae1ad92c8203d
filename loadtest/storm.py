"""Runs a storm: starts Locust's processes, watches the history grow, ends them."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from loadtest.run import open_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loadtest.run import RunDirectory, RunSettings

_LOCUSTFILE = Path(__file__).with_name("locustfile.py")
_LOOPBACK = "127.0.0.1"
# How often the history is looked at: often enough for a smooth progress bar.
_LOOK_SECONDS = 0.25
# How long the master waits for its workers: each asks Pulumi for its target first, which may take
# `target.PULUMI_SECONDS` (120 s), and imports Locust.
_CONNECT_SECONDS = 180
# Before the first attempt there is that wait; later, a single request gives up after 35 s (loadtest.users).
# A history that has not grown for longer than both is a storm that hangs.
_STILL_SECONDS = 240.0
# Locust's processes end within a few seconds of SIGTERM; after this they are killed.
_END_SECONDS = 15.0


class StormError(Exception):
    """The storm did not run to its end; says why and where the log is."""


def run(directory: RunDirectory, settings: RunSettings, home: Path, progress: Callable[[int], None]) -> None:
    """Send the storm and return when its last attempt is in the history.

    Args:
        directory: of the run; its history files grow as the storm goes.
        settings: of the run, as in the directory.
        home: the local platform's directory, for stage `local`.
        progress: called with the number of attempts in the history.

    Raises:
        StormError: a Locust process failed, or nothing happened for four minutes.
    """
    with _processes(directory, settings, home) as processes:
        history = _GrowingHistory(directory)
        last, since = -1, time.monotonic()
        while any(process.poll() is None for process in processes):
            attempts = history.count()
            if attempts != last:
                last, since = attempts, time.monotonic()
                progress(attempts)
            if time.monotonic() - since > _STILL_SECONDS:
                raise StormError(f"nothing happened for {_STILL_SECONDS:.0f} s; see {directory.log}")
            _raise_if_failed(processes, directory)
            time.sleep(_LOOK_SECONDS)
        _raise_if_failed(processes, directory)
        progress(history.count())


def _raise_if_failed(processes: list[subprocess.Popen[bytes]], directory: RunDirectory) -> None:
    failed = [process.returncode for process in processes if process.returncode]
    if failed:
        raise StormError(f"a Locust process ended with {failed[0]}; see {directory.log}")


class _GrowingHistory:
    """Counts the lines of a run's history, reading each byte once."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        self._read: dict[Path, int] = {}
        self._lines = 0

    def count(self) -> int:
        """How many lines there are by now."""
        for path in self._directory.path.glob("history-*.jsonl"):
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                for block in iter(lambda: file.read(1 << 20), b""):
                    self._lines += block.count(b"\n")
                self._read[path] = file.tell()
        return self._lines


@contextlib.contextmanager
def _processes(
    directory: RunDirectory, settings: RunSettings, home: Path
) -> Iterator[list[subprocess.Popen[bytes]]]:
    with open_private(directory.log, "a") as log, contextlib.ExitStack() as stack:
        started = []
        # Locust's processes watch the read end, and end when ours is closed: by us, or by the system when we
        # are killed. No child gets the write end (descriptors are not inherited unless one asks).
        watched, owned = os.pipe()
        stack.callback(os.close, owned)
        stack.callback(os.close, watched)
        for command in commands(directory, settings, home, _free_port()):
            process = subprocess.Popen(  # noqa: S603 - no shell; our own interpreter
                [*command, "--owner-fd", str(watched)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[watched],
            )
            stack.callback(_end, process)
            started.append(process)
        yield started


def commands(directory: RunDirectory, settings: RunSettings, home: Path, port: int) -> list[list[str]]:
    """The command lines of Locust's processes. None holds a secret: each process finds its own target."""
    base = [sys.executable, "-m", "locust", "-f", str(_LOCUSTFILE), "--headless", "--only-summary"]
    base += ["--run-dir", str(directory.path), "--home", str(home), "--exit-code-on-error", "0"]
    if not settings.workers:
        return [base]
    master = [*base, "--master", "--master-bind-host", _LOOPBACK, "--master-bind-port", str(port)]
    master += ["--expect-workers", str(settings.workers), "--expect-workers-max-wait", str(_CONNECT_SECONDS)]
    worker = [*base, "--worker", "--master-host", _LOOPBACK, "--master-port", str(port)]
    return [master, *([worker] * settings.workers)]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
