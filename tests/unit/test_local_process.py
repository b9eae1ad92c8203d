"""Background processes: that stopping one stops all of it, and does not wait for what has ended."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from ops.local.process import ProcessId, start, stop

if TYPE_CHECKING:
    from pathlib import Path

# A process 1 that never asks for its orphans: what ends stays a zombie (36: PR_SET_CHILD_SUBREAPER of prctl).
NEGLIGENT = """
import ctypes, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1)
leader = subprocess.Popen([sys.executable, "-c", sys.argv[1]], start_new_session=True)
time.sleep(60)
"""

LEADER = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(60)
"""

LATE = """
import os, signal, subprocess, sys, time
def end(*_):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    print(child.pid, flush=True)
    sys.exit()
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
time.sleep(60)
"""


def identity_of(pid: int) -> ProcessId:
    return ProcessId(pid, psutil.Process(pid).create_time())


def ended(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.skipif(sys.platform != "linux", reason="orphans can be given to another process on Linux only")
def test_what_has_ended_is_not_waited_for_though_nobody_asks_for_it() -> None:
    arguments = [sys.executable, "-c", NEGLIGENT, LEADER]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as negligent:
        assert negligent.stdout is not None
        leader, child = map(int, negligent.stdout.readline().split())
        began = time.monotonic()
        assert stop(identity_of(leader), seconds=20), "it went by itself"
        assert time.monotonic() - began < 10
        assert ended(child)
        negligent.kill()


def test_what_it_starts_while_it_ends_is_ended_too() -> None:
    arguments = [sys.executable, "-c", LATE]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, start_new_session=True) as leader:
        assert leader.stdout is not None
        assert leader.stdout.readline() == "ready\n"
        assert stop(identity_of(leader.pid))
        assert ended(int(leader.stdout.readline()))


def test_a_process_that_ended_by_itself_leaves_no_zombie(tmp_path: Path) -> None:
    identity = start(["this"], environment={}, log=tmp_path / "log", directory=tmp_path, owned=False)
    deadline = time.monotonic() + 20
    while identity.running() is not None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert stop(identity)
    assert not psutil.pid_exists(identity.pid)
