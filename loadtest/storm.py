"""Runs a storm: starts Locust's processes, watches the history grow, ends them."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loadtest.run import RunDirectory, RunSettings

_LOCUSTFILE = Path(__file__).with_name("locustfile.py")
_LOOPBACK = "127.0.0.1"
# How often the history is looked at: often enough for a smooth progress bar.
_LOOK_SECONDS = 0.25
# A single request gives up after 35 s (loadtest.users), and Pulumi's outputs may take two minutes to come:
# a history that has not grown for longer than both is a storm that hangs.
_STILL_SECONDS = 180.0
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
        StormError: a Locust process failed, or nothing happened for three minutes.
    """
    with _processes(directory, settings, home) as processes:
        last, since = -1, time.monotonic()
        while any(process.poll() is None for process in processes):
            attempts = count_attempts(directory)
            if attempts != last:
                last, since = attempts, time.monotonic()
                progress(attempts)
            if time.monotonic() - since > _STILL_SECONDS:
                raise StormError(f"nothing happened for {_STILL_SECONDS:.0f} s; see {directory.log}")
            _raise_if_failed(processes, directory)
            time.sleep(_LOOK_SECONDS)
        _raise_if_failed(processes, directory)
        progress(count_attempts(directory))


def _raise_if_failed(processes: list[subprocess.Popen[bytes]], directory: RunDirectory) -> None:
    failed = [process.returncode for process in processes if process.returncode]
    if failed:
        raise StormError(f"a Locust process ended with {failed[0]}; see {directory.log}")


def count_attempts(directory: RunDirectory) -> int:
    """How many lines the run's history has."""
    return sum(_lines(path) for path in directory.path.glob("history-*.jsonl"))


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


@contextlib.contextmanager
def _processes(
    directory: RunDirectory, settings: RunSettings, home: Path
) -> Iterator[list[subprocess.Popen[bytes]]]:
    with directory.log.open("ab") as log, contextlib.ExitStack() as stack:
        started = []
        for command in commands(directory, settings, home, _free_port()):
            process = subprocess.Popen(  # noqa: S603 - no shell; our own interpreter
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
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
    # 60 s to connect: a worker asks Pulumi for its target first.
    master = [*base, "--master", "--master-bind-host", _LOOPBACK, "--master-bind-port", str(port)]
    master += ["--expect-workers", str(settings.workers), "--expect-workers-max-wait", "60"]
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
