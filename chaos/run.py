"""One run: the platform, the storm under faults, the operator's steps, the retries, the verdict."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos import functions, recovery
from chaos.again import send_again
from chaos.bus import Bus
from chaos.conduct import Conductor, Stage
from chaos.disorder import Disorder
from chaos.faults import Schedule
from chaos.losses import Losses
from chaos.mending import Mending
from chaos.proxy import between, upstream_of
from chaos.script import script
from chaos.sends import Sends
from chaos.wires import Wires
from chaos.workers import Workers
from infra.naming import WORK_QUEUES, Names
from loadtest import secrets
from loadtest.target import choose
from loadtest.verify import verify
from ops.commands.storm import prepared, sent_to
from ops.local.clients import Clients
from ops.local.emulator import Emulator
from ops.local.platform import STAGE, LocalPlatform
from ops.local.queued import counted
from ops.stages import reach

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from chaos.functions import Code
    from chaos.losses import Open
    from chaos.outcome import Outcome
    from loadtest.run import RunDirectory, RunSettings
    from loadtest.target import Target
    from ops.local.emulator import Endpoint


@dataclass(frozen=True, slots=True)
class Run:
    """What is to be run: the storm, its platform's directory, the functions' code, the verdict's patience."""

    settings: RunSettings
    home: Path
    code: Code
    patience_seconds: float
    say: Callable[[str], None]


def run(run: Run, outcome: Outcome) -> None:
    """Bring a platform up, send the storm under faults, mend, retry and judge; then bring it down.

    `outcome` is filled in on the way: what is in it when this raises is what there was until then.

    Raises:
        LocalPlatformError, StormError, TargetError, NothingSaved: the run did not come to its end.
        RecoveryFailed: an operator's command did not do what it is for.
        ClientError, BotoCoreError: the local AWS did not do what a run needs.
    """
    began = time.monotonic()
    platform = LocalPlatform(run.home, owned=True)
    run.say("bringing the platform up")
    try:
        platform.up(fresh=True)
        _Running(platform, run, outcome).to_the_end()
    finally:
        platform.down()
        outcome.seconds = time.monotonic() - began


class _Running:
    """A run on a platform that is up."""

    def __init__(self, platform: LocalPlatform, run: Run, outcome: Outcome) -> None:
        self._platform = platform
        self._run = run
        self._outcome = outcome
        self._target: Target = reach(STAGE, run.home)
        settings = sent_to(self._target, run.settings, run.home)
        self._names = {name: str(one["name"]) for name, one in platform.outputs().functions.items()}
        if run.code.plant is not None:
            functions.plant(self._aws(), self._names, run.code.plant)
        self._directory: RunDirectory = prepared(self._target, settings, run.home / "runs" / settings.run_id)
        self._losses = Losses(self._target, self._directory)
        self._bus = Bus(self._target)

    def to_the_end(self) -> None:
        """The storm and all that comes after it."""
        outcome, run = self._outcome, self._run
        mending = Mending(run.home, self._losses, self._waiting, self._letters, run.say)
        with self._bus.delivering():
            cut_off = self._storm()
            mending.drain(outcome)
            mending.replay(outcome, cut_off)
            self._retry()
            mending.drain(outcome)
            self._judge()
            if mending.republish(outcome, cut_off):
                self._judge()
        outcome.delivered, outcome.bus_again = self._bus.delivered, self._bus.again
        outcome.waiting, outcome.left = self._waiting(), recovery.left(run.home)

    def _storm(self) -> Open:
        run, schedule = self._run, Schedule(self._run.settings.seed)
        sends = Sends([Names(STAGE).platform(name) for name in WORK_QUEUES])
        kill = Workers(run.home).kill_by_port
        wires = Wires(schedule, self._outcome.tally, upstream_of(self._endpoint().url), kill, sends)
        disorder = Disorder(self._target, schedule.seed)
        emulator = Emulator(run.home, self._target.region)
        conductor = Conductor(Stage(wires, self._platform, emulator, disorder, self._losses), run.say)
        run.say("putting the proxy between the functions and their AWS, and skewing their clocks")
        changed = functions.under_chaos
        with between(wires, self._names), changed(self._aws(), self._names, wires.urls, run.code):
            conductor.run(self._directory, run.home, script(schedule, run.settings.requests))
        return conductor.open

    def _retry(self) -> None:
        run, target = self._run, self._target
        chosen = secrets.with_webhooks(target, choose(target, run.settings.tenants))
        run.say("sending every key again, until it has an answer that stands")
        tenants = {one.tenant_id: one for one in chosen}
        self._outcome.retried = send_again(self._directory, tenants, target.api_url)
        run.say(f"sent {self._outcome.retried.attempts} times")

    def _judge(self) -> None:
        self._run.say("judging")
        patience = self._run.patience_seconds
        self._outcome.verdict = verify(self._directory, self._target, patience, lambda *_: None)

    def _waiting(self) -> int:
        return counted(self._endpoint(), self._target.region, STAGE) + self._bus.waiting()

    def _letters(self, queue: str) -> int:
        return counted(self._endpoint(), self._target.region, STAGE, [queue])

    def _endpoint(self) -> Endpoint:
        endpoint = Emulator(self._run.home, self._target.region).endpoint()
        assert endpoint is not None, "it is up"
        return endpoint

    def _aws(self) -> Clients:
        return Clients(self._endpoint(), self._target.region)
