"""Waits until everything that follows from a run's receipts has happened, or nothing more happens."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from loadtest.collect import EventIds
from loadtest.stored import operation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
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
# Keys that are looked up at a time when they are first met: what all has followed from is forgotten again.
_KEYS_AT_ONCE = 1000


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
        progress: called with (done, expected), of the receipts that were met so far.
    """
    began = time.monotonic()
    seen = _Seen(tables, queues, events_file)
    queues.drain(0)
    seen.meet(pks, progress)
    _look_on(seen, queues, patience_seconds, progress)
    return Settled(seen.expected, seen.done, time.monotonic() - began)


def _look_on(
    seen: _Seen, queues: AuditQueues, patience_seconds: float, progress: Callable[[int, int], None]
) -> None:
    changed, last = time.monotonic(), (-1, -1)
    while True:
        taken = queues.drain(0)
        seen.look(new_events=taken > 0)
        if (now := (seen.done, seen.expected)) != last or taken:
            last, changed = now, time.monotonic()
            progress(*now)
        if seen.done == seen.expected and not queues.drain(_QUIET_SECONDS) and not queues.in_flight():
            return
        if time.monotonic() - changed > patience_seconds:
            return
        time.sleep(_LOOK_SECONDS)


@dataclass(slots=True)
class _Waiting:
    """A receipt of which something has not followed yet.

    Attributes:
        completed: it is. refuses: for good, so that nothing follows.
        record_pk: where its record belongs; None while it names none. done: the status of one whose queued
            work is done. recorded: it was seen so. event_id: of its event.
    """

    completed: bool
    refuses: bool
    record_pk: str | None
    done: str | None
    event_id: str | None
    recorded: bool = False


class _Seen:
    """What has been seen of a run's receipts, records and events. Asks only for what is missing.

    Memory: what is waited for, the keys without a receipt, and 8 bytes for each event.
    """

    def __init__(self, tables: Tables, queues: AuditQueues, events_file: Path) -> None:
        self._tables = tables
        self._complete = queues.complete
        self._without_receipt: set[str] = set()
        self._waiting: dict[str, _Waiting] = {}
        self._events = EventIds(events_file)
        self.expected = 0  # receipts
        self.done = 0

    def meet(self, pks: Iterable[str], progress: Callable[[int, int], None]) -> None:
        """Look for the first time, at some keys after the others: of a long run that takes a while."""
        self._events.look()
        left = iter(pks)
        while some := list(islice(left, _KEYS_AT_ONCE)):
            self._without_receipt.update(some)
            self._ask(some)
            progress(self.done, self.expected)

    def look(self, *, new_events: bool) -> None:
        """Ask for the receipts that are not there or not completed, and for the records not finished."""
        if new_events:
            self._events.look()
        unfinished = {pk for pk, one in self._waiting.items() if not one.completed}
        self._ask(self._without_receipt | unfinished)

    def _ask(self, pks: Collection[str]) -> None:
        for pk, receipt in self._tables.receipts(pks).items():
            self.expected += pk in self._without_receipt
            self._without_receipt.discard(pk)
            self._waiting[pk] = _waiting(receipt)
        missing: defaultdict[str, list[_Waiting]] = defaultdict(list)
        for one in self._waiting.values():
            if one.record_pk and not one.recorded:
                missing[one.record_pk].append(one)
        for record_pk, record in self._tables.records(missing).items():
            for one in missing[record_pk]:
                one.recorded = record.status == one.done
        finished = [pk for pk, one in self._waiting.items() if self._is_done(one)]
        for pk in finished:
            del self._waiting[pk]
        self.done += len(finished)

    def _is_done(self, one: _Waiting) -> bool:
        if one.completed and one.refuses:
            return True  # nothing follows from a refusal
        return one.recorded and (one.event_id in self._events or not self._complete)


def _waiting(receipt: StoredReceipt) -> _Waiting:
    return _Waiting(
        completed=receipt.completed,
        refuses=receipt.refuses,
        record_pk=receipt.record_id and f"{receipt.tenant}#{receipt.record_id}",
        done=operation_of(receipt).done,
        event_id=receipt.event_id,
    )
