"""The processes of a storm: they hold no secret where others can see it, and end with their owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import pytest

from loadtest import storm
from loadtest.run import RunDirectory
from tests.unit.storm.fake_platform import TENANTS, key_of, serve
from tests.unit.storm.test_plan import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Long enough for every test here to look at it while it sends.
LONG = replace(SMALL, requests=3000, keys=40, rate=20.0, workers=2)
# Locust's processes import for seconds on a busy machine, and end within seconds of SIGTERM.
PATIENCE_SECONDS = 90.0

# SIGINT as in a terminal: a run of the tests in the background of a script is started with it ignored, and
# every process inherits that.
_OWNER = """
import signal
import sys
from pathlib import Path
from loadtest import storm
from loadtest.run import RunDirectory
signal.signal(signal.SIGINT, signal.default_int_handler)
directory = RunDirectory(Path(sys.argv[1]))
storm.run(directory, directory.settings(), Path(sys.argv[2]), lambda _: None)
"""


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that sends a long storm with two workers; it is given when the first attempts are written."""
    with serve() as platform:
        platform.write_outputs(tmp_path / "home")
        directory = RunDirectory.create(tmp_path / "run", LONG)
        command = [sys.executable, "-c", _OWNER, str(directory.path), str(tmp_path / "home")]
        process = subprocess.Popen(command, start_new_session=True)
        try:
            _until(lambda: len(list(directory.path.glob("history-*.jsonl"))) == LONG.workers)
            yield process
        finally:
            for one in _locusts(process):
                one.kill()
            process.kill()
            process.wait()


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


def _locusts(owner: subprocess.Popen[bytes]) -> list[psutil.Process]:
    try:
        return psutil.Process(owner.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_all_of_them_end_with_their_owner_however_it_ends(
    owner: subprocess.Popen[bytes], how: signal.Signals
) -> None:
    locusts = _locusts(owner)
    assert len(locusts) == LONG.workers + 1
    os.kill(owner.pid, how)
    try:
        assert owner.wait(PATIENCE_SECONDS) != 0
        _until(lambda: not any(one.is_running() and one.status() != "zombie" for one in locusts))
    finally:
        for one in locusts:
            if one.is_running():
                one.kill()


def test_no_api_key_is_in_an_argument_or_the_environment_of_a_process(
    owner: subprocess.Popen[bytes],
) -> None:
    locusts = _locusts(owner)
    assert len(locusts) == LONG.workers + 1
    for process in locusts:
        visible = [*process.cmdline(), *process.environ().values()]
        assert "--run-dir" in visible
        for tenant in TENANTS:
            assert not any(key_of(tenant) in word for word in visible)


def test_a_worker_too_many_sends_nothing(tmp_path: Path) -> None:
    """Two workers for a plan that was dealt to one: it ends with a reason, and the history is one share's."""
    with serve() as platform:
        platform.write_outputs(tmp_path / "home")
        directory = RunDirectory.create(tmp_path / "run", replace(LONG, workers=1, requests=500, rate=400.0))
        settings = replace(LONG, workers=2)
        with pytest.raises(storm.StormError, match=r"locust\.log"):
            storm.run(directory, settings, tmp_path / "home", lambda _: None)
    assert "no share of the plan is left" in directory.log.read_text()
    assert not directory.history(1).exists()
