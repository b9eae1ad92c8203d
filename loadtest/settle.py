"""Waits until everything that follows from a run's receipts has happened, or nothing more happens."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadtest.collect import read_events
from loadtest.effects import operation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from loadtest.collect import AuditQueues, Tables
    from loadtest.stored import StoredReceipt

# How long the queues are asked for one more message when all seems done: a second event of a request is as
# much a fault as a missing one. It would follow from a second change of its receipt, which the stream hands
# to dispatch within a second, and SNS to the queue within another; three more for a busy platform. What
# dispatch retries later has the same event id, and changes no verdict.
_QUIET_SECONDS = 5
# Between two looks while something is missing.
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Settled:
    """How the waiting ended.

    Attributes:
        expected: receipts. done: those of which all has followed: record, event, and the end of queued work.
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
    """Poll until every receipt has its record and its event, its work is done, and the queues are quiet.

    Messages that somebody took off a queue and did not delete (an earlier look that was broken off) are
    waited for, too: they come back when their visibility timeout is over.

    Args:
        tables, queues: of the stage. events_file: where `queues` keeps what it takes.
        pks: partition keys that the run may have written.
        patience_seconds: give up when nothing more has happened for so long. Dispatch retries what fails,
            so a fault of a few seconds is no loss.
        progress: called with (done, expected).
    """
    began = changed = time.monotonic()
    seen, last = _Seen(tables, queues, events_file, pks), (-1, -1)
    while True:
        taken = queues.drain(0)
        seen.look(new_events=taken > 0)
        if (now := (seen.done, seen.expected)) != last or taken:
            last, changed = now, time.monotonic()
            progress(*now)
        if seen.all_done and not queues.drain(_QUIET_SECONDS) and not queues.in_flight():
            break
        if time.monotonic() - changed > patience_seconds:
            break
        time.sleep(_LOOK_SECONDS)
    return Settled(last[1], last[0], time.monotonic() - began)


class _Seen:
    """What has been seen of a run's receipts, records and events. Asks only for what is missing."""

    def __init__(self, tables: Tables, queues: AuditQueues, events_file: Path, pks: Iterable[str]) -> None:
        self._tables = tables
        self._complete = queues.complete
        self._events_file = events_file
        self._without_receipt = set(pks)
        self._receipts: dict[str, StoredReceipt] = {}
        self._finished: set[str] = set()  # records whose queued work, if they have any, is done
        self._events = self._read_events()

    @property
    def expected(self) -> int:
        return len(self._receipts)

    @property
    def done(self) -> int:
        return sum(map(self._is_done, self._receipts.values()))

    @property
    def all_done(self) -> bool:
        return all(map(self._is_done, self._receipts.values()))

    def look(self, *, new_events: bool) -> None:
        """Ask for the receipts that are not there or not completed, and for the records not finished."""
        unfinished = {pk for pk, one in self._receipts.items() if not one.completed}
        self._receipts |= self._tables.receipts(self._without_receipt | unfinished)
        self._without_receipt -= set(self._receipts)
        wanted = {pk: one for one in self._receipts.values() if (pk := _record_pk(one))}
        missing = wanted.keys() - self._finished
        for pk, record in self._tables.records(missing).items():
            if record.status == operation_of(wanted[pk]).done:
                self._finished.add(pk)
        if new_events:
            self._events = self._read_events()

    def _read_events(self) -> set[str]:
        return {event.event_id for event in read_events(self._events_file)}

    def _is_done(self, receipt: StoredReceipt) -> bool:
        if receipt.completed and receipt.refuses:
            return True  # nothing follows from a refusal
        published = receipt.event_id in self._events or not self._complete
        return _record_pk(receipt) in self._finished and published


def _record_pk(receipt: StoredReceipt) -> str | None:
    """Where the record of a receipt belongs; None while the receipt names none."""
    return receipt.record_id and f"{receipt.pk.partition('#')[0]}#{receipt.record_id}"
