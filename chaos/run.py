"""One run: the platform, the storm under faults, the operator's steps, the retries, the verdict."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from chaos import recovery
from chaos.again import Retried, send_again
from chaos.conduct import Conductor
from chaos.faults import Schedule
from chaos.functions import Code, under_chaos
from chaos.proxy import Wires, between, upstream_of
from chaos.script import script
from chaos.tally import Tally
from chaos.witness import Witness
from chaos.workers import Workers
from loadtest import secrets
from loadtest.target import choose
from loadtest.verdict import Kind
from loadtest.verify import verify
from ops.commands.storm import prepared, sent_to
from ops.local.clients import Clients
from ops.local.emulator import Emulator
from ops.local.platform import STAGE, LocalPlatform
from ops.local.queued import queued
from ops.stages import reach

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from loadtest.run import RunDirectory, RunSettings
    from loadtest.target import Target
    from loadtest.verdict import Verdict

# Between two looks at something that should soon have gone, or be there.
_LOOK_SECONDS: Final = 2.0
# How often nothing must have changed for the stream to have brought all it has: dispatch's batch is brought
# again about once a second, and two workers' timeouts (7 s a call) may lie between two records.
_QUIET_LOOKS: Final = 8
# How long the queues may hold work after the faults: a lease by a clock 90 s ahead, and a message that waits
# for its end, three times over (the local stage gives work up after three receives).
_DRAIN_SECONDS: Final = 420.0
# What the checker says of an event that is missing (`loadtest.effects`).
_LOST_EVENT: Final = re.compile(r"event (\S+) never reached the audit queue")


@dataclass(frozen=True, slots=True)
class Run:
    """What is to be run: the storm, its platform's directory, the functions' code, the verdict's patience."""

    settings: RunSettings
    home: Path
    code: Code
    patience_seconds: float
    say: Callable[[str], None]


@dataclass(slots=True)
class Outcome:
    """What a run came to.

    Attributes:
        lost: receipts whose stream record the restart lost, brought back by `dispatch replay`.
        redriven: letters sent back, by queue.
        bus_lost: events of orders that were on the bus and never came out; published again.
        retried: the retries of the end.
        waiting: messages in the queues of work at the very end; left: letters in the dead-letter queues.
    """

    tally: Tally
    directory: RunDirectory
    lost: int = 0
    redriven: dict[str, int] = field(default_factory=dict)
    bus_lost: int = 0
    retried: Retried | None = None
    waiting: int = 0
    left: dict[str, int] = field(default_factory=dict)
    verdict: Verdict | None = None
    seconds: float = 0.0


def run(run: Run) -> Outcome:
    """Bring a platform up, send the storm under faults, mend, retry and judge; then bring it down.

    Raises:
        LocalPlatformError, StormError, TargetError: the run did not come to its end.
        RecoveryFailed: an operator's command did not do what it is for.
    """
    began = time.monotonic()
    platform = LocalPlatform(run.home, owned=True)
    run.say("bringing the platform up")
    try:
        platform.up(fresh=True)
        outcome = _on(platform, run)
    finally:
        platform.down()
    outcome.seconds = time.monotonic() - began
    return outcome


def _on(platform: LocalPlatform, run: Run) -> Outcome:
    target = reach(STAGE, run.home)
    settings = sent_to(target, run.settings, run.home)
    directory = prepared(target, settings, run.home / "runs" / settings.run_id)
    outcome, witness = Outcome(Tally(directory.path / "faults.log"), directory), Witness(target)
    try:
        _storm(platform, target, run, outcome)
    finally:
        outcome.tally.close()
    _replay(run, outcome)
    _retry(target, run, outcome)
    _drain(target, run, outcome)
    run.say("judging")
    outcome.verdict = verify(directory, target, run.patience_seconds, lambda *_: None)
    _publish_what_the_bus_lost(target, run, outcome, witness)
    outcome.waiting, outcome.left = _queued(target, run), recovery.left(run.home)
    return outcome


def _storm(platform: LocalPlatform, target: Target, run: Run, outcome: Outcome) -> None:
    schedule, emulator = Schedule(run.settings.seed), Emulator(run.home, target.region)
    endpoint = emulator.endpoint()
    assert endpoint is not None, "it is up"
    wires = Wires(schedule, outcome.tally, upstream_of(endpoint.url), Workers(run.home).kill_by_port)
    names = {name: str(one["name"]) for name, one in platform.outputs().functions.items()}
    aws = Clients(endpoint, target.region)
    run.say("putting the proxy between the functions and their AWS, and skewing their clocks")
    with between(wires, names), under_chaos(aws, names, wires.urls, run.code):
        conductor = Conductor(wires, target, platform, emulator, run.say)
        conductor.run(outcome.directory, run.home, script(schedule, run.settings.requests))


def _replay(run: Run, outcome: Outcome) -> None:
    """Wait until the stream has brought what it still has, then let the runbook bring back what it lost."""
    missing, same = recovery.missing(run.home), 0
    while missing and same < _QUIET_LOOKS:
        time.sleep(_LOOK_SECONDS)
        now = recovery.missing(run.home)
        missing, same = now, same + 1 if now == missing else 0
    outcome.lost = recovery.replay(run.home) if missing else 0
    run.say(f"onceward dispatch replay: {outcome.lost} receipts that the stream lost")


def _retry(target: Target, run: Run, outcome: Outcome) -> None:
    chosen = secrets.with_webhooks(target, choose(target, run.settings.tenants))
    run.say("sending every key again, until it has an answer that stands")
    tenants = {one.tenant_id: one for one in chosen}
    outcome.retried = send_again(outcome.directory, tenants, target.api_url)
    run.say(f"sent {outcome.retried.attempts} times")


def _drain(target: Target, run: Run, outcome: Outcome) -> None:
    """Wait for the queues of work; what they gave up meanwhile is sent back, as the runbook says."""
    deadline = time.monotonic() + _DRAIN_SECONDS
    while time.monotonic() < deadline:
        if _queued(target, run):
            time.sleep(_LOOK_SECONDS)
            continue
        sent = recovery.redrive(run.home)
        for name, letters in sent.items():
            outcome.redriven[name] = outcome.redriven.get(name, 0) + letters
        if not any(sent.values()):
            break
    run.say(f"onceward dlq redrive: {sum(outcome.redriven.values())} letters")


def _publish_what_the_bus_lost(target: Target, run: Run, outcome: Outcome, witness: Witness) -> None:
    """Events that were on the bus and never came out are the local bus's loss: the runbook publishes again.

    Only if that is true of every event that is missing: one that never was on the bus stands as lost.
    """
    verdict = outcome.verdict
    assert verdict is not None, "it was judged"
    lost = [_LOST_EVENT.fullmatch(one.detail) for one in verdict.violations]
    ids = {found[1] for found in lost if found}
    if not ids or len(ids) < verdict.by_kind[Kind.LOST_EVENT.value] or not ids <= witness.event_ids():
        return
    run.say(f"onceward dispatch replay --republish: {len(ids)} events that the local bus lost")
    recovery.replay(run.home, republish=True)
    outcome.bus_lost = len(ids)
    outcome.verdict = verify(outcome.directory, target, run.patience_seconds, lambda *_: None)


def _queued(target: Target, run: Run) -> int:
    endpoint = Emulator(run.home, target.region).endpoint()
    assert endpoint is not None, "it is up"
    return queued(endpoint, target.region, STAGE)
