"""Judges a finished run: waits for the platform to settle, reads what is there, asks the checker."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from loadtest import history, settle, stand_in, target
from loadtest.checker import Judge
from loadtest.collect import AuditQueues, Tables, read_events
from loadtest.evidence import gathered
from loadtest.expected import planned
from loadtest.reads import read_records
from loadtest.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadtest.evidence import Evidence
    from loadtest.run import RunDirectory, RunSettings
    from loadtest.target import Target
    from loadtest.verdict import Verdict


def verify(
    directory: RunDirectory, stage: Target, patience_seconds: float, progress: Callable[[int, int], None]
) -> Verdict:
    """Judge a run and write `verdict.json`.

    May be called again: what was taken off the audit queues is kept in the run's directory.

    Args:
        directory: of the run. stage: where it ran.
        patience_seconds: how long to wait for what is missing, counted from the last change.
        progress: called with (receipts of which all has followed, receipts) while waiting.

    Raises:
        ValueError: the directory or a line of its history is not a run's.
        TargetError: this is another platform than the run was sent to (nothing was taken or written), or a
            tenant of the run is not on it any more.
        botocore.exceptions.ClientError, BotoCoreError: the stage's AWS refuses, or cannot be reached.
    """
    settings = directory.settings()
    _require_same_platform(settings, stage)
    tenants = target.choose(stage, settings.tenants)
    tables = Tables(stage)
    queues = AuditQueues(stage, tenants, settings.key_prefix, directory.events)
    with gathered(directory.path / "judging", settings) as evidence:
        evidence.hear(history.read(directory.path, besides=directory.reads))
        settled = settle.wait(
            tables, queues, directory.events, evidence.all_pks(), patience_seconds, progress
        )
        queues.sweep()
        _gather(evidence, directory, stage, tables)
        if queues.complete:
            evidence.keep_events(read_events(directory.events))
        judge = Judge(evidence.crossing)
        for part in evidence.parts():
            judge.take(part)
        verdict = judge.verdict()
    document = {"runId": settings.run_id, "settledSeconds": round(settled.seconds, 1), **verdict.to_json()}
    directory.verdict.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return verdict


def _require_same_platform(settings: RunSettings, stage: Target) -> None:
    # Elsewhere every write of the run is missing: a verdict on the wrong place, over that of the right one.
    if settings.api_url not in {None, stage.api_url}:
        raise TargetError(f"the run was sent to {settings.api_url}, and this stage is {stage.api_url}")


def _gather(evidence: Evidence, directory: RunDirectory, stage: Target, tables: Tables) -> None:
    """Fetch what there is of the run, but for its events."""
    settings = directory.settings()
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
