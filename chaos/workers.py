"""The processes that the functions run in: children of the emulator, killed by the connection they hold."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import psutil

from ops.local.files import read_json
from ops.local.process import ProcessId

if TYPE_CHECKING:
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


def _comes_from(connection: Any, port: int) -> bool:  # noqa: ANN401 - psutil names no type for it
    local = connection.laddr
    return bool(local) and (local.ip, local.port) == (_LOOPBACK, port)
