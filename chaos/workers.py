"""The processes of a run: the functions' workers, killed by the connection they hold, and the clients."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import psutil

from ops.local.files import read_json
from ops.local.process import ProcessId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_LOOPBACK: Final = "127.0.0.1"


class Workers:
    """The function workers of one emulator; a process that is not its descendant is never touched."""

    def __init__(self, home: Path) -> None:
        """`home`: of the platform, whose emulator may be stopped and started again meanwhile."""
        self._record = home / "emulator.json"

    def kill_by_port(self, port: int) -> bool:
        """SIGKILL the worker whose connection comes from the loopback port; False if there is none."""
        for process in self.running():
            with contextlib.suppress(psutil.Error):
                if any(_comes_from(one, port) for one in process.net_connections("tcp")):
                    process.kill()
                    return True
        return False

    def running(self) -> list[psutil.Process]:
        """The emulator's descendants; none when it does not run."""
        record = read_json(self._record)
        emulator = ProcessId(**record["process"]).running() if record else None
        with contextlib.suppress(psutil.Error):
            return emulator.children(recursive=True) if emulator else []
        return []


@contextlib.contextmanager
def standing_still(clients: Sequence[psutil.Process]) -> Iterator[Callable[[], None]]:
    """Stop processes where they are (SIGSTOP) until the function that is given is called, or the block ends.

    Clients of a server that is down are refused in a millisecond, and would be through with their storm
    before it is back.
    """

    def go_on() -> None:
        for client in clients:
            with contextlib.suppress(psutil.Error):
                client.resume()

    try:
        for client in clients:
            with contextlib.suppress(psutil.Error):
                client.suspend()
        yield go_on
    finally:
        go_on()


def storm_clients() -> list[psutil.Process]:
    """Locust's processes: children of this one, which runs the storm."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "locust" in process.cmdline():
                found.append(process)
    return found


def _comes_from(connection: Any, port: int) -> bool:  # noqa: ANN401 - psutil names no type for it
    local = connection.laddr
    return bool(local) and (local.ip, local.port) == (_LOOPBACK, port)
