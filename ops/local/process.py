"""A background process that one command starts and a later one finds again and stops."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from ops.local.files import open_private_append

STOP_SECONDS = 15.0
"""How long a process has to end by itself: the emulator waits up to 3 s for open connections
(hypercorn's graceful_timeout) and then writes its state, under a second for a large one."""

POLL_SECONDS = 0.05
"""Between two looks at something that is awaited."""

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
            if same and _alive(process):
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
    _reap()
    _children[process.pid] = process
    return ProcessId(process.pid, psutil.Process(process.pid).create_time())


def stop(identity: ProcessId, seconds: float = STOP_SECONDS) -> bool:
    """End the process and all of its session; True if it went by itself, False if it had to be killed.

    A process that is gone already counts as gone by itself.
    """
    process = identity.running()
    saved = True
    if process is not None:
        descendants = process.children(recursive=True)
        process.terminate()
        saved = _ended([process], seconds)
        # Those that it started while it ended are not among its descendants of before.
        rest = {process, *descendants, *_session(identity)}
        for straggler in rest:
            with contextlib.suppress(psutil.NoSuchProcess):
                straggler.kill()
        _ended(rest, seconds)
    _reap()
    return saved


def _session(identity: ProcessId) -> list[psutil.Process]:
    """Every process of the session that it leads, or led: a function's workers outlive the emulator."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getsid(process.pid) == identity.pid and process.create_time() > identity.started_at - 1.0:
                found.append(process)
    return found


def _ended(processes: Collection[psutil.Process], seconds: float) -> bool:
    """Wait until all have ended; False if the time runs out.

    A zombie has ended. psutil's own wait counts it as alive until its parent asks for it, and the parent of
    an orphan is a process 1 that may take its time: `down` waited minutes for dozens of dead workers.
    """
    deadline = time.monotonic() + seconds
    while any(_alive(process) for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _reap() -> None:
    """Take note of our own children that have ended, however they did: else they stay as zombies."""
    for pid, child in list(_children.items()):
        if child.poll() is not None:
            del _children[pid]
