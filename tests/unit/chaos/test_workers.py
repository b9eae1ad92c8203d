"""Who is killed, and who stands still: processes of the run, found by what they hold, and no other."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from chaos.workers import Workers, standing_still

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# An emulator that has one worker, which connects to a port and holds on to it.
_WORKER = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); s.recv(1)"
_EMULATOR = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]])"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        yield server


@pytest.fixture
def emulator(tmp_path: Path, listener: socket.socket) -> Iterator[subprocess.Popen[bytes]]:
    port = str(listener.getsockname()[1])
    process = subprocess.Popen([sys.executable, "-c", _EMULATOR, _WORKER, port])
    record = {"process": {"pid": process.pid, "started_at": psutil.Process(process.pid).create_time()}}
    (tmp_path / "emulator.json").write_text(json.dumps(record), encoding="utf-8")
    try:
        yield process
    finally:
        for each in psutil.Process(process.pid).children(recursive=True):
            each.kill()
        process.kill()
        process.wait()


def test_the_worker_behind_a_connection_is_killed(
    emulator: subprocess.Popen[bytes], listener: socket.socket, tmp_path: Path
) -> None:
    connection, (_, port) = listener.accept()
    with connection:
        [worker] = Workers(tmp_path).running()
        assert Workers(tmp_path).kill_by_port(port)
        assert connection.recv(1) == b""  # its end, by the system
        psutil.wait_procs([worker], timeout=30)
    assert Workers(tmp_path).running() == []


def test_a_process_that_is_not_the_emulators_is_left_alone(
    emulator: subprocess.Popen[bytes], listener: socket.socket, tmp_path: Path
) -> None:
    theirs, _ = listener.accept()
    with theirs, socket.create_connection(listener.getsockname()) as ours:
        assert not Workers(tmp_path).kill_by_port(ours.getsockname()[1])
    assert psutil.Process(os.getpid()).is_running()


def test_without_an_emulator_nobody_is_killed(tmp_path: Path) -> None:
    assert Workers(tmp_path).running() == []
    assert not Workers(tmp_path).kill_by_port(1)


def test_clients_stand_still_until_they_are_let_go(
    emulator: subprocess.Popen[bytes], listener: socket.socket
) -> None:
    client = psutil.Process(emulator.pid)
    listener.accept()[0].close()
    with standing_still([client]) as go_on:
        assert os.WIFSTOPPED(os.waitpid(client.pid, os.WUNTRACED)[1])
        go_on()
        assert os.WIFCONTINUED(os.waitpid(client.pid, os.WCONTINUED)[1])


def _fail_once_stopped(pid: int) -> None:
    # Of a process that had not stopped yet there is no going on to wait for.
    assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
    raise RuntimeError("the platform did not come back")


def test_clients_go_on_when_the_block_fails(
    emulator: subprocess.Popen[bytes], listener: socket.socket
) -> None:
    client = psutil.Process(emulator.pid)
    connection, _ = listener.accept()
    with connection:
        with pytest.raises(RuntimeError, match="did not come back"), standing_still([client]):
            _fail_once_stopped(client.pid)
        assert os.WIFCONTINUED(os.waitpid(client.pid, os.WCONTINUED)[1])
