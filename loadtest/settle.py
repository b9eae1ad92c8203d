"""Waits until everything that follows from a run's receipts has happened, or nothing more happens."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadtest.collect import read_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from loadtest.collect import AuditQueues, Tables
    from loadtest.stored import StoredReceipt

# How long the queues are asked for one more message when all seems done: a second event of a request is as
# much a fault as a missing one, and would come now.
_QUIET_SECONDS = 2
# Between two looks while something is missing.
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Settled:
    """How the waiting ended.

    Attributes:
        expected: receipts that must have a record and an event. done: those that have both.
        seconds: how long it took, the quiet time at the end included.
    """

    expected: int
    done: int
    seconds: float


def wait(
    tables: Tables,
    queues: AuditQueues,
    events_file: Path,
    pks: Iterable[str],
    patience_seconds: float,
    progress: Callable[[int, int], None],
) -> Settled:
    """Poll until every receipt has its record and its event, and the queues are quiet.

    Args:
        tables, queues: of the stage. events_file: where `queues` keeps what it takes.
        pks: partition keys that the run may have written.
        patience_seconds: give up when nothing more has happened for so long. Dispatch retries what fails,
            so a fault of a few seconds is no loss.
        progress: called with (done, expected).
    """
    began = changed = time.monotonic()
    wanted, last = list(pks), (-1, -1)
    while True:
        taken = queues.drain(0)
        receipts = tables.receipts(wanted)
        done = _done(tables, queues, events_file, receipts)
        if (done, len(receipts)) != last or taken:
            last, changed = (done, len(receipts)), time.monotonic()
            progress(done, len(receipts))
        if done == len(receipts) and not queues.drain(_QUIET_SECONDS):
            break
        if time.monotonic() - changed > patience_seconds:
            break
        time.sleep(_LOOK_SECONDS)
    return Settled(last[1], last[0], time.monotonic() - began)


def _done(tables: Tables, queues: AuditQueues, events_file: Path, receipts: dict[str, StoredReceipt]) -> int:
    pairs = [(f"{one.pk.partition('#')[0]}#{one.record_id}", one.event_id) for one in receipts.values()]
    records = tables.records(pk for pk, _ in pairs)
    published = {event.event_id for event in read_events(events_file)}
    return sum(pk in records and (event in published or not queues.complete) for pk, event in pairs)
