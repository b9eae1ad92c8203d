"""The stand-in's process in one home directory."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from shlex import quote

from ops.local.emulator import FREED_SECONDS, LOOPBACK, can_listen, free_port, port_taken
from ops.local.errors import LocalPlatformError
from ops.local.files import private_directory, read_json, write_private
from ops.local.process import POLL_SECONDS, ProcessId, clean_environment, start, stop

READY_SECONDS = 20.0
"""How long it may take to listen: a third of a second on an idle machine, more beside a test suite."""


class StandIn:
    """What stands in for everything outside AWS (payment provider, CRM): see `ops.local.stand_in`.

    Its port is kept from one run to the next where it is free, since functions have it in their environment;
    `say` is told of another one.
    """

    def __init__(
        self, home: Path, *, owned: bool = False, say: Callable[[str], None] = lambda _line: None
    ) -> None:
        self._home = home
        self._owned = owned
        self._say = say
        self._record = home / "stand-in.json"
        self._log = home / "stand-in.log"
        self._directory = home / "stand-in"

    def url(self) -> str | None:
        """Where it answers; None if it does not run."""
        process = self._process()
        return None if process is None or process.running() is None else _url(self._port())

    def start(self) -> str:
        """Start it, if it does not run yet; returns its address once it listens.

        Raises LocalPlatformError if it ends at once or does not listen in time.
        """
        running = self.url()
        if running is not None:
            return running
        port = self._free_port()
        directory = private_directory(self._directory)
        self._log.unlink(missing_ok=True)
        process = start(
            ["ops.local.stand_in", str(port), str(directory / "state.json")],
            environment=clean_environment(directory),
            log=self._log,
            directory=directory,
            owned=self._owned,
        )
        write_private(self._record, json.dumps({"process": asdict(process), "port": port}))
        self._wait(port, process)
        return _url(port)

    def planned_url(self) -> str:
        """Where it answers or would answer next, for a preview; port 0: one that is not chosen yet."""
        return _url(self._port())

    def stop(self) -> None:
        """Stop it; it saves its charges and entities first. Stopping what does not run is no error."""
        process = self._process()
        if process is not None:
            stop(process)

    def forget(self) -> None:
        """Delete its port and all that it saved. It must not be running."""
        self._record.unlink(missing_ok=True)
        shutil.rmtree(self._directory, ignore_errors=True)

    def _process(self) -> ProcessId | None:
        record = read_json(self._record)
        return None if record is None else ProcessId(**record["process"])

    def _port(self) -> int:
        record = read_json(self._record)
        return 0 if record is None else int(record["port"])

    def _free_port(self) -> int:
        """The port of the last run, or another one where somebody has that by now."""
        last, deadline = self._port(), time.monotonic() + FREED_SECONDS
        if not last:
            return free_port()
        while not can_listen(last):
            if time.monotonic() > deadline:
                port = free_port()
                self._say(
                    f"Port {last} of the stand-in is taken by another process: it answers on {port} now."
                )
                return port
            time.sleep(POLL_SECONDS)
        return last

    def _wait(self, port: int, process: ProcessId) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not port_taken(port):
            if process.running() is None or time.monotonic() > deadline:
                raise LocalPlatformError(
                    f"the stand-in for what is outside AWS does not answer on port {port}; {self._log} says "
                    "why. If that port is taken by now, this chooses another: "
                    f"onceward local up --home {quote(str(self._home))}"
                )
            time.sleep(POLL_SECONDS)


def _url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"
