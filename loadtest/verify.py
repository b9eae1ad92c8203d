"""Judges a finished run: waits for the platform to settle, reads what is there, asks the checker."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from loadtest import history, settle, stand_in, target
from loadtest.checker import Judge
from loadtest.collect import AuditQueues, Tables, read_events
from loadtest.evidence import gathered
from loadtest.expected import planned
from loadtest.reads import read_records
from loadtest.sole_judge import sole_judge
from loadtest.target import TargetError

if TYPE_CHECKING:
    from loadtest.evidence import Evidence
    from loadtest.run import RunDirectory, RunSettings
    from loadtest.target import Target
    from loadtest.verdict import Verdict


Progress = Callable[[str, int, int], None]
"""Called with what is done (`SETTLE`, `JUDGE`), how much of it, and of how much."""

SETTLE: Final = "Settle"
"""Receipts of which all has followed, of the receipts that were met so far."""
JUDGE: Final = "Judge"
"""Parts of the run."""


def verify(directory: RunDirectory, stage: Target, patience_seconds: float, progress: Progress) -> Verdict:
    """Judge a run and write `verdict.json`.

    May be called again: what was taken off the audit queues is kept in the run's directory.

    Args:
        directory, stage: of the run. patience_seconds: to wait for what is missing, from the last change.
        progress: told how far it is.

    Raises:
        ValueError: the directory or a line of its history is not a run's, or its plan is not today's.
        TargetError: this is another platform than the run was sent to, or a tenant of the run is not on it
            any more.
        JudgedAlready: another process judges the run. After none of these anything was taken or written.
        botocore.exceptions.ClientError, BotoCoreError: the stage's AWS refuses, or cannot be reached.
    """
    settings = directory.settings()
    settings.require_todays_plan()
    _require_same_platform(settings, stage)
    tenants = target.choose(stage, settings.tenants)
    with sole_judge(directory):
        queues = AuditQueues(stage, tenants, settings.key_prefix, directory.events)
        with gathered(directory.judging, settings) as evidence:
            settled = _settle(evidence, directory, stage, queues, patience_seconds, progress)
            _gather(evidence, directory, stage, queues)
            verdict = _judge(evidence, progress)
        settled_seconds = round(settled.seconds, 1)
        document = {"runId": settings.run_id, "settledSeconds": settled_seconds, **verdict.to_json()}
        directory.verdict.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return verdict


def _settle(
    evidence: Evidence,
    directory: RunDirectory,
    stage: Target,
    queues: AuditQueues,
    patience_seconds: float,
    progress: Progress,
) -> settle.Settled:
    evidence.hear(history.read(directory.path, besides=directory.reads))
    settled = settle.wait(
        Tables(stage),
        queues,
        directory.events,
        evidence.all_pks(),
        patience_seconds,
        partial(progress, SETTLE),
    )
    queues.sweep()
    return settled


def _judge(evidence: Evidence, progress: Progress) -> Verdict:
    judge = Judge(evidence.crossing)
    for number, part in enumerate(evidence.parts(), start=1):
        judge.take(part)
        progress(JUDGE, number, evidence.count)
    return judge.verdict()


def _require_same_platform(settings: RunSettings, stage: Target) -> None:
    # Elsewhere every write of the run is missing: a verdict on the wrong place, over that of the right one.
    if settings.api_url not in {None, stage.api_url}:
        raise TargetError(f"the run was sent to {settings.api_url}, and this stage is {stage.api_url}")


def _gather(evidence: Evidence, directory: RunDirectory, stage: Target, queues: AuditQueues) -> None:
    """Fetch what there is of the run."""
    settings, tables = directory.settings(), Tables(stage)
    for part in range(evidence.count):
        evidence.keep_receipts(tables.receipts(evidence.pks(part)).values())
    # By key, too: a receipt of a keyless request bears the run's mark only in its outbox, if it has one.
    evidence.keep_receipts(tables.all_receipts(settings.key_prefix))
    tenants = target.choose(stage, settings.tenants)
    read_records(stage, tenants, evidence.ids_to_read(), directory.reads)
    evidence.hear(history.read_file(directory.reads))
    evidence.plan(planned(settings))
    evidence.keep_records(tables.all_records(settings.key_prefix))
    seen = stand_in.read(stage, settings.tenants, settings.key_prefix)
    if seen is not None:
        evidence.keep_outside(seen)
    if queues.complete:
        evidence.keep_events(read_events(directory.events))
