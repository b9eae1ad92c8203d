"""`reconcile`: scheduled, sends the message of work that is pending too long again, once a period.

Work that this has not helped for about a day it gives up.
"""

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
from handlers.domain.pending import is_due, is_hopeless, is_overdue, period_ms
from handlers.domain.work import BY_OPERATION, PENDING_SHARDS, pending_shards
from handlers.settings import ReconcileSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

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


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of the index; its name says the operation too, for DynamoDB."""

    operation: str
    name: str


@dataclass(frozen=True)
class Dependencies:
    """What the handler works with; tests bring their own.

    Attributes:
        progress: where the last run of this environment stopped, by shard. Without it a shard is begun anew,
            and nothing is lost: what is due stays due.
        shuffled: brings the shards of all operations into another order each time, so that none, and no
            operation, is always the last.
    """

    settings: ReconcileSettings
    pending: PendingIndex
    work_queues: WorkQueues
    logger: Logger
    clock_ms: Callable[[], int]
    shuffled: Callable[[tuple[Shard, ...]], list[Shard]]
    progress: dict[str, object] = field(default_factory=dict)


@dataclass
class Tally:
    """What one run did for one operation.

    Attributes:
        overdue: work that is pending for longer than a period, as far as the run has looked.
        given_up: work that was marked as failed, having been sent again in vain.
        oldest_ms: the age of the oldest pending work, overdue or not.
        looked: how many of the operation's shards were looked at.
    """

    overdue: int = 0
    requeued: int = 0
    given_up: int = 0
    failed: int = 0
    oldest_ms: int = 0
    looked: int = field(default=0, compare=False)


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
    first_pages: dict[Shard, Page] = {}

    def look(shard: Shard) -> None:
        page = dependencies.pending.page(shard.name, None)
        tallies[shard.operation].looked += 1
        _count(page, tallies[shard.operation], dependencies)
        first_pages[shard] = page

    def work_through(shard: Shard) -> None:
        _work_through(shard, first_pages[shard], tallies[shard.operation], dependencies, remaining_ms)

    shards = [Shard(operation, name) for operation in tallies for name in pending_shards(operation)]
    in_order = dependencies.shuffled(tuple(shards))
    # All are looked at first, which takes a moment: the worse the backlog, the more it matters that its age
    # is told, and the less likely it is that one run comes to the end of it.
    _each(in_order, look, tallies, dependencies, remaining_ms)
    _each([one for one in in_order if one in first_pages], work_through, tallies, dependencies, remaining_ms)
    for operation, tally in tallies.items():
        _tell(operation, tally, dependencies)
    if any(tally.failed for tally in tallies.values()):
        raise ReconcileFailed("pending work could not be looked through; see the log")
    return tallies


def _each(
    shards: Iterable[Shard],
    step: Callable[[Shard], None],
    tallies: Mapping[str, Tally],
    dependencies: Dependencies,
    remaining_ms: Callable[[], int],
) -> None:
    for shard in shards:
        if remaining_ms() < _ITEM_MS:
            return
        try:
            step(shard)
        except OncewardError as error:
            # What holds up one shard (a queue, say) need not hold up the next.
            tallies[shard.operation].failed += 1
            said = {"operation": shard.operation, "shard": shard.name, "reason": reason_of(error)}
            _log(dependencies, "failed", said)


def _count(page: Page, tally: Tally, dependencies: Dependencies) -> None:
    now_ms = dependencies.clock_ms()
    tally.failed += page.unreadable
    tally.overdue += sum(is_overdue(work, now_ms) for work in page.items)
    tally.oldest_ms = max([tally.oldest_ms, *(now_ms - work.since for work in page.items)])


def _work_through(
    shard: Shard, first: Page, tally: Tally, dependencies: Dependencies, remaining_ms: Callable[[], int]
) -> None:
    for page in _pages(shard.name, first, dependencies):
        if page is not first:
            _count(page, tally, dependencies)
        for work in page.items:
            now_ms = dependencies.clock_ms()
            if not is_overdue(work, now_ms):
                dependencies.progress.pop(shard.name, None)
                return  # and all that follow are younger
            if remaining_ms() < _ITEM_MS:
                return
            if not is_due(work, now_ms):
                continue
            if is_hopeless(work):
                tally.given_up += _give_up(work, now_ms, dependencies)
            else:
                tally.requeued += _requeue(work, now_ms, dependencies)


def _pages(shard: str, first: Page, dependencies: Dependencies) -> Iterator[Page]:
    """The first page, which holds the oldest work, then on from where the last run stopped."""
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
    dependencies.work_queues.send(work.message)
    _log(dependencies, "requeued", _about(work, now_ms) | {"requeues": work.requeues + 1})
    return True


def _give_up(work: PendingWork, now_ms: int, dependencies: Dependencies) -> bool:
    if not dependencies.pending.give_up(work, now_ms, now_ms - period_ms(work.requeues)):
        return False
    _log(dependencies, "given_up", _about(work, now_ms) | {"requeues": work.requeues})
    with suppress(Exception):
        # For its tenant alone: of all tenants together the run's end says how much was given up.
        message = work.message
        metrics.emit_of_tenant(_whose(dependencies, message.operation, message.tenant_id), {"WorkGivenUp": 1})
    return True


def _whose(dependencies: Dependencies, operation: str, tenant_id: str | None) -> metrics.About:
    return metrics.About(dependencies.settings.stage, FUNCTION, operation, tenant_id)


def _about(work: PendingWork, now_ms: int) -> dict[str, object]:
    message = work.message
    return {
        "tenant": message.tenant_id,
        "operation": message.operation,
        "record_id": message.record_id,
        "event_id": message.event_id,
        "correlation_id": message.correlation_id,
        "pending_ms": now_ms - work.since,
    }


def _tell(operation: str, tally: Tally, dependencies: Dependencies) -> None:
    said = {"overdue": tally.overdue, "requeued": tally.requeued, "given_up": tally.given_up}
    _log(
        dependencies,
        "looked",
        {"operation": operation, "shards": tally.looked, "oldest_ms": tally.oldest_ms, **said},
    )
    with suppress(Exception):
        # Zeros too: an alarm on a metric that is only there in trouble cannot tell "fine" from "not looked".
        counts = {
            "Requeued": tally.requeued,
            "WorkGivenUp": tally.given_up,
            "ReconcileFailed": tally.failed,
        }
        ages: dict[str, float] = {}
        # And none of what was not looked at, for the same reason.
        if tally.looked == PENDING_SHARDS:
            counts["PendingWork"] = tally.overdue
            ages["PendingOldestAge"] = tally.oldest_ms
        metrics.emit(_whose(dependencies, operation, None), counts, ages)


def _log(dependencies: Dependencies, outcome: str, said: Mapping[str, object]) -> None:
    fine = outcome not in {"failed", "given_up"}
    log = dependencies.logger.info if fine else dependencies.logger.error
    # What was sent is sent, whether or not anybody can be told.
    with suppress(Exception):
        log(outcome, extra={"outcome": outcome, **said})
