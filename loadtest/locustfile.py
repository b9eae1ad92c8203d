"""What Locust loads: wires the storm's user and shape to Locust's events.

`onceward storm` starts this with the right options. By hand, for workers on other machines (copy the run's
directory there first, and its history files back afterwards):

    locust -f loadtest/locustfile.py --worker --master-host HOST --run-dir DIR
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gevent
import gevent.socket
from locust import events
from locust.runners import LocalRunner, MasterRunner, WorkerRunner

from loadtest import locust_memory, secrets, target
from loadtest.operations import WEBHOOKS
from loadtest.run import RunDirectory
from loadtest.users import StormShape, StormUser
from loadtest.worker import StormWorker

if TYPE_CHECKING:
    from argparse import ArgumentParser

__all__ = ["StormShape", "StormUser"]

_ROOT = Path(__file__).resolve().parents[1]
_SHARE_DONE = "onceward_share_done"
# Where a master listens that is not told otherwise: whoever reaches it may send it anything.
_LOOPBACK = "127.0.0.1"


@events.init_command_line_parser.add_listener  # type: ignore[untyped-decorator]
def _add_options(parser: ArgumentParser) -> None:
    # Text, not Path: the master sends its options to the workers, in a format that knows no paths.
    parser.add_argument("--run-dir", help="the directory of the run, with its run.json")
    parser.add_argument(
        "--home", default=str(_ROOT / ".onceward"), help="the local platform's directory (stage local)"
    )
    parser.add_argument(
        "--owner-fd", type=int, help="read end of a pipe: this process ends when its other end is closed"
    )
    parser.set_defaults(master_bind_host=_LOOPBACK)


@events.init.add_listener  # type: ignore[untyped-decorator]
def _prepare(environment: Any, runner: Any, **_: object) -> None:  # noqa: ANN401 - locust has no types
    """Read the run's settings; a process that sends (not the master) finds its target too."""
    options = environment.parsed_options
    if options.owner_fd is not None:
        gevent.spawn(_end_with_owner, options.owner_fd)
    if options.run_dir is None:
        raise SystemExit("--run-dir is missing: `onceward storm` makes the directory")
    gevent.spawn(locust_memory.forget_for_ever, environment.stats)
    directory = RunDirectory(Path(options.run_dir))
    settings = directory.settings()
    StormShape.users, StormShape.shares = settings.users, settings.shares
    if isinstance(runner, MasterRunner):
        runner.register_message(_SHARE_DONE, lambda msg, **_: StormShape.done.add(msg.data["share"]))
        return
    found = target.load(settings.stage, Path(options.home), _ROOT)
    chosen = target.choose(found, settings.tenants)
    if WEBHOOKS.name in settings.operations:
        chosen = secrets.with_webhooks(found, chosen)
    tenants = {one.tenant_id: one for one in chosen}
    StormUser.host = found.api_url
    environment.events.test_start.add_listener(lambda **_: _begin(environment, directory, tenants))


def _end_with_owner(descriptor: int) -> None:
    """Wait for the end of the process that started this one, however it ends, and stop in good order.

    Nobody writes to the pipe: it becomes readable when its only writer is gone.
    """
    gevent.socket.wait_read(descriptor)
    os.kill(os.getpid(), signal.SIGTERM)


def _begin(environment: Any, directory: RunDirectory, tenants: dict[str, target.TargetTenant]) -> None:  # noqa: ANN401
    """Open this process's share (its number is known only now), warm up, and start the clock."""
    runner = environment.runner
    share = runner.worker_index if isinstance(runner, WorkerRunner) else 0
    if share >= directory.settings().shares:
        # A worker that came back, or one too many: the plan has no share for it.
        raise SystemExit(f"worker {share + 1} of {directory.settings().shares}: no share of the plan is left")
    worker = StormWorker(directory, tenants, share)
    StormUser.worker = worker
    environment.events.quitting.add_listener(lambda **_: worker.close())

    def done() -> None:
        if isinstance(runner, LocalRunner):
            StormShape.done.add(share)
        else:
            runner.send_message(_SHARE_DONE, {"share": share})

    def warm_up_and_start() -> None:
        client = StormUser(environment)
        for step in worker.warm_up:
            client.perform(step, worker.now_ms())
        worker.start_clock(done)

    gevent.spawn(warm_up_and_start)
