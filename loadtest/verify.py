"""Judges a finished run: waits for the platform to settle, reads what is there, asks the checker."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from loadtest import history, settle, stand_in, target
from loadtest.answers import Answers
from loadtest.checker import check
from loadtest.collect import AuditQueues, Tables, read_events
from loadtest.expected import Expected
from loadtest.operations import BY_NAME
from loadtest.reads import read_records
from loadtest.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from loadtest.run import RunDirectory, RunSettings
    from loadtest.stored import StoredReceipt
    from loadtest.target import Target
    from loadtest.verdict import Verdict

# Records of each tenant and operation that all tenants ask for: the first ones of the run. One would do for a
# fault in the rule; two also show one in a cache.
_READ_PER_TENANT = 2


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
    pks = list(_hear(directory).by_pk)
    settled = settle.wait(tables, queues, directory.events, pks, patience_seconds, progress)
    queues.sweep()
    # By key, too: a receipt of a keyless request bears the run's mark only in its outbox, if it has one.
    receipts = tables.receipts(pks) | tables.all_receipts(settings.key_prefix)
    read_records(stage, tenants, _ids_to_read(receipts.values()), directory.reads)
    verdict = check(
        answers=_hear(directory),
        receipts=receipts.values(),
        records=tables.all_records(settings.key_prefix).values(),
        events=read_events(directory.events) if queues.complete else None,
        expected=Expected.of(settings),
        seen_outside=stand_in.read(stage, settings.tenants, settings.key_prefix),
    )
    document = {"runId": settings.run_id, "settledSeconds": round(settled.seconds, 1), **verdict.to_json()}
    directory.verdict.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return verdict


def _require_same_platform(settings: RunSettings, stage: Target) -> None:
    # Elsewhere every write of the run is missing: a verdict on the wrong place, over that of the right one.
    if settings.api_url not in {None, stage.api_url}:
        raise TargetError(f"the run was sent to {settings.api_url}, and this stage is {stage.api_url}")


def _hear(directory: RunDirectory) -> Answers:
    answers = Answers()
    for attempt in history.read(directory.path):
        answers.hear(attempt)
    return answers


def _ids_to_read(receipts: Iterable[StoredReceipt]) -> list[tuple[str, str]]:
    """Operation and id of the first records of each tenant and operation (ids sort by time)."""
    ids: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for receipt in receipts:
        if receipt.record_id and receipt.operation in BY_NAME:
            ids[receipt.tenant, receipt.operation].append(receipt.record_id)
    return [
        (operation, record_id)
        for (_, operation), found in ids.items()
        for record_id in sorted(found)[:_READ_PER_TENANT]
    ]
