"""`reconcile`: scheduled, finds work that is pending too long, and sends its message again once a period."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from aws_lambda_powertools import Logger

from handlers.adapters import metrics
from handlers.adapters.dispatch_trace import reason_of
from handlers.adapters.pending_index import DynamoDbPending
from handlers.adapters.work_queue import SqsWorkQueues
from handlers.domain.errors import OncewardError
from handlers.domain.pending import is_due, is_overdue, period_ms
from handlers.domain.work import BY_OPERATION, pending_shards
from handlers.settings import ReconcileSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from aws_lambda_powertools.utilities.typing import LambdaContext

    from handlers.domain.pending import Page, PendingIndex, PendingWork
    from handlers.domain.work_message import WorkMessage

FUNCTION: Final = "reconcile"
# One piece of work takes a mark and a message, 7 s each when both let calls run into their timeouts.
_ITEM_MS: Final = 15_000
# Per shard and run, a thousand pieces of work: one shard's backlog must leave the run time for the others.
# The next run goes on where this one stopped.
_PAGES: Final = 10


class ReconcileFailed(OncewardError):
    """Part of the run failed; what it got done is done."""


class WorkQueues(Protocol):
    """The queues of work."""

    def send(self, message: WorkMessage) -> None:
        """Queue a piece of work; raises Refused or Unavailable."""


@dataclass(frozen=True)
class Dependencies:
    """What the handler works with; tests bring their own.

    Attributes:
        progress: where the last run of this environment stopped, by shard. Without it a shard is begun anew,
            and nothing is lost: what is due stays due.
        shuffled: brings shards into another order each time, so that none is always the last.
    """

    settings: ReconcileSettings
    pending: PendingIndex
    work_queues: WorkQueues
    logger: Logger
    clock_ms: Callable[[], int]
    shuffled: Callable[[tuple[str, ...]], list[str]]
    progress: dict[str, object] = field(default_factory=dict)


@dataclass
class Tally:
    """What one run did for one operation.

    Attributes:
        overdue: work that is pending for longer than a period, as far as the run has looked.
        oldest_ms: the age of the oldest pending work, overdue or not.
    """

    overdue: int = 0
    requeued: int = 0
    failed: int = 0
    oldest_ms: int = 0


@cache
def _dependencies() -> Dependencies:
    settings = ReconcileSettings.from_environment()
    return Dependencies(
        settings=settings,
        pending=DynamoDbPending(settings.records_table),
        work_queues=SqsWorkQueues(settings.work_queue_urls),
        logger=Logger(service=FUNCTION),
        clock_ms=lambda: time.time_ns() // 1_000_000,
        shuffled=lambda shards: random.sample(shards, len(shards)),
    )


def handler(event: Mapping[str, Any], context: LambdaContext) -> None:  # noqa: ARG001 - Lambda's signature
    """Run once. Raises ReconcileFailed when part of it failed, for the function's errors are alarmed on."""
    reconcile(_dependencies(), context.get_remaining_time_in_millis)


def reconcile(dependencies: Dependencies, remaining_ms: Callable[[], int]) -> dict[str, Tally]:
    """Look through the index of pending work of every operation; answers what was done for each.

    `remaining_ms`: how long the function may still run.

    Raises:
        ReconcileFailed: an index could not be read, or a message not be sent.
    """
    tallies = {operation: Tally() for operation in BY_OPERATION}
    for operation, tally in tallies.items():
        for shard in dependencies.shuffled(pending_shards(operation)):
            if remaining_ms() < _ITEM_MS:
                break
            try:
                _shard(shard, tally, dependencies, remaining_ms)
            except OncewardError as error:
                # What holds up one shard (a queue, say) need not hold up the next.
                tally.failed += 1
                _log(dependencies, "failed", {"shard": shard, "reason": reason_of(error)})
        _tell(operation, tally, dependencies)
    if any(tally.failed for tally in tallies.values()):
        raise ReconcileFailed("pending work could not be looked through; see the log")
    return tallies


def _shard(shard: str, tally: Tally, dependencies: Dependencies, remaining_ms: Callable[[], int]) -> None:
    for page in _pages(shard, dependencies):
        tally.failed += page.unreadable
        for work in page.items:
            now_ms = dependencies.clock_ms()
            tally.oldest_ms = max(tally.oldest_ms, now_ms - work.since)
            if not is_overdue(work, now_ms):
                dependencies.progress.pop(shard, None)
                return  # and all that follow are younger
            tally.overdue += 1
            if remaining_ms() < _ITEM_MS:
                return
            if is_due(work, now_ms) and _requeue(work, now_ms, dependencies):
                tally.requeued += 1


def _pages(shard: str, dependencies: Dependencies) -> Iterator[Page]:
    """The first page, which holds the oldest work, then on from where the last run stopped."""
    first = dependencies.pending.page(shard, None)
    yield first
    start = dependencies.progress.pop(shard, None) or first.next
    for _ in range(_PAGES - 1):
        if start is None:
            return
        # Should the run end within this page, the next one begins with it.
        dependencies.progress[shard] = start
        page = dependencies.pending.page(shard, start)
        yield page
        start = page.next
        dependencies.progress.pop(shard, None)
    if start is not None:
        dependencies.progress[shard] = start


def _requeue(work: PendingWork, now_ms: int, dependencies: Dependencies) -> bool:
    # First the mark, then the message: the other way round two runs would both send. Killed in between, this
    # one has sent nothing, and the work is due again when the period is over.
    if not dependencies.pending.mark_requeued(work, now_ms, now_ms - period_ms(work.requeues)):
        return False
    message = work.message
    dependencies.work_queues.send(message)
    said = {
        "tenant": message.tenant_id,
        "operation": message.operation,
        "record_id": message.record_id,
        "event_id": message.event_id,
        "correlation_id": message.correlation_id,
        "pending_ms": now_ms - work.since,
        "requeues": work.requeues + 1,
    }
    _log(dependencies, "requeued", said)
    return True


def _tell(operation: str, tally: Tally, dependencies: Dependencies) -> None:
    said = {"overdue": tally.overdue, "requeued": tally.requeued, "oldest_ms": tally.oldest_ms}
    _log(dependencies, "looked", {"operation": operation, **said})
    with suppress(Exception):
        service = metrics.service_name(dependencies.settings.stage, FUNCTION)
        # Zeros too: an alarm on a metric that is only there in trouble cannot tell "fine" from "not looked".
        counts = {"PendingWork": tally.overdue, "Requeued": tally.requeued, "ReconcileFailed": tally.failed}
        metrics.emit(service, operation, None, counts, {"PendingOldestAge": tally.oldest_ms})


def _log(dependencies: Dependencies, outcome: str, said: Mapping[str, object]) -> None:
    log = dependencies.logger.error if outcome == "failed" else dependencies.logger.info
    # What was sent is sent, whether or not anybody can be told.
    with suppress(Exception):
        log(outcome, extra={"outcome": outcome, **said})
