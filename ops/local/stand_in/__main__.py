"""`python -m ops.local.stand_in PORT STATE_FILE`: serves until SIGTERM, and saves to the file then."""

import json
import signal
import sys
import threading
from pathlib import Path

from ops.local.files import read_json, write_private
from ops.local.stand_in.server import Server
from ops.local.stand_in.world import CutConnection, World


def main() -> None:
    """Serve. Calls that are being answered when the signal comes are cut: they are not waited for."""
    port, file = int(sys.argv[1]), Path(sys.argv[2])
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stopping.set())

    def pause(seconds: float) -> None:
        if stopping.wait(seconds):
            raise CutConnection(reset=False)  # what acted now might come too late to be saved

    world = World(pause)
    saved = read_json(file)
    if saved is not None:
        world.restore(saved)
    with Server(port, world) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        stopping.wait()
        server.shutdown()
        write_private(file, json.dumps(world.saved()))


if __name__ == "__main__":
    main()
