"""A background process that one command starts and a later one finds again and stops."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from ops.local.files import open_private_append

STOP_SECONDS = 15.0
"""How long a process has to end by itself: the emulator waits up to 3 s for open connections
(hypercorn's graceful_timeout) and then writes its state, under a second for a large one."""


_children: dict[int, subprocess.Popen[bytes]] = {}
"""Those that this very process started, by pid: a parent must reap, or the child stays as a zombie."""


@dataclass(frozen=True)
class ProcessId:
    """A process, told apart from a later one that got the same number by when it was started."""

    pid: int
    started_at: float
    """Seconds since the epoch, as psutil reports it."""

    def running(self) -> psutil.Process | None:
        """The process if it still runs (a zombie does not), else None."""
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started_at) < 1.0  # the clock of the two readings
            if same and process.status() != psutil.STATUS_ZOMBIE:
                return process
        return None


def clean_environment(temporary: Path) -> dict[str, str]:
    """The environment of a background process: nothing of the user's but the search path.

    The emulator hands its whole environment on to every Lambda function, so whatever is not here
    (credentials, proxies, PYTHONPATH, LOG_LEVEL) cannot reach one.
    """
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(temporary),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
    }


def start(
    module: Sequence[str], *, environment: Mapping[str, str], log: Path, directory: Path, owned: bool
) -> ProcessId:
    """Start `python -m MODULE ARG ...` in the background, in its own session, logging to the file.

    `owned`: it ends when this process does. Otherwise it outlives it, until `stop`.
    """
    read_end, write_end = os.pipe()
    prefix = ["-m", "ops.local.owned", str(read_end)] if owned else ["-m"]
    output = open_private_append(log)
    try:
        process = subprocess.Popen(  # noqa: S603 (our own interpreter and module names, no shell)
            [sys.executable, *prefix, *module],
            env=dict(environment),
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=(read_end,) if owned else (),
        )
    finally:
        os.close(output)
        os.close(read_end)
        if not owned:
            os.close(write_end)  # an owned process is told of our end by the system closing this one
    _children[process.pid] = process
    return ProcessId(process.pid, psutil.Process(process.pid).create_time())


def stop(identity: ProcessId, seconds: float = STOP_SECONDS) -> bool:
    """End the process and every descendant; True if it went by itself, False if it had to be killed.

    A process that is gone already counts as gone by itself.
    """
    process = identity.running()
    if process is None:
        return True
    descendants = process.children(recursive=True)
    process.terminate()
    _, left = psutil.wait_procs([process], timeout=seconds)
    for straggler in [*left, *descendants]:
        with contextlib.suppress(psutil.NoSuchProcess):
            straggler.kill()
    psutil.wait_procs([*left, *descendants], timeout=seconds)
    child = _children.pop(identity.pid, None)
    if child is not None:
        child.wait(timeout=seconds)
    return not left
