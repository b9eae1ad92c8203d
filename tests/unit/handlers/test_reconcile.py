"""`reconcile`: a message that was dropped is sent again, once a period, whoever else is looking."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from aws_lambda_powertools import Logger
from moto import mock_aws

from handlers.adapters.pending_index import DynamoDbPending
from handlers.adapters.records import DynamoDbRecords
from handlers.domain.errors import Unavailable
from handlers.domain.pending import LONGEST_PERIOD_MS, PERIOD_MS, Page, period_ms
from handlers.domain.work import ORDERS, pending_shard, pending_shards
from handlers.domain.work_item import WorkClaim
from handlers.domain.work_message import WorkMessage
from handlers.reconcile import Dependencies, ReconcileFailed, Tally, reconcile
from handlers.settings import ReconcileSettings
from tests.builders import NOW_MS
from tests.fakes.work import InMemoryWork
from tests.records_table import make_records_table
from tests.unit.handlers.dispatch_bench import Killed, emf
from tests.unit.handlers.work_bench import order, webhook

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.pending import PendingIndex, PendingWork

ORDER = order(1)  # accepted 500 ms before NOW_MS
_LOGGERS = itertools.count()


@dataclass
class Reconciler:
    """One reconciler over an index that others may share, with a clock of the test's."""

    pending: PendingIndex
    sent: list[WorkMessage] = field(default_factory=list)
    now: int = ORDER.created_at
    error: BaseException | None = None
    progress: dict[str, object] = field(default_factory=dict)
    log: io.StringIO = field(default_factory=io.StringIO)

    def send(self, message: WorkMessage) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append(message)

    def run(self, remaining_ms: Callable[[], int] = lambda: 40_000) -> dict[str, Tally]:
        dependencies = Dependencies(
            settings=ReconcileSettings("dev", "records", {}),
            pending=self.pending,
            work_queues=self,
            logger=Logger(service=f"reconcile-{next(_LOGGERS)}", level="INFO", stream=self.log),
            clock_ms=lambda: self.now,
            shuffled=list,
            progress=self.progress,
        )
        return reconcile(dependencies, remaining_ms)


@pytest.fixture
def store() -> InMemoryWork:
    one = InMemoryWork()
    one.write(ORDER)
    return one


def test_a_dropped_message_is_sent_again_exactly_once_a_period(store: InMemoryWork) -> None:
    one = Reconciler(store)
    sent_at = []
    # Every minute of three hours, as the schedule calls it; no message ever arrives.
    for minute in range(180):
        one.now = ORDER.created_at + minute * 60_000
        before = len(one.sent)
        one.run()
        sent_at += [minute] * (len(one.sent) - before)

    assert sent_at == [5, 15, 35, 75, 135]  # 5 minutes, then 10, 20, 40, and an hour at the most
    assert one.sent == [WorkMessage.of(ORDER)] * 5


def test_work_is_given_a_period_before_its_message_counts_as_lost(store: InMemoryWork) -> None:
    one = Reconciler(store, now=ORDER.created_at + PERIOD_MS - 1)
    assert one.run()["orders"] == Tally(oldest_ms=PERIOD_MS - 1)
    one.now += 1
    assert one.run()["orders"] == Tally(overdue=1, requeued=1, oldest_ms=PERIOD_MS)


def test_two_reconcilers_at_once_send_once(store: InMemoryWork) -> None:
    class SeesBefore:
        """An index whose readers both look before either of them marks."""

        def __init__(self) -> None:
            self.seen = {shard: store.page(shard, None) for shard in pending_shards("orders")}

        def page(self, shard: str, start: object | None) -> Page:
            return self.seen.get(shard, Page((), 0, None))

        def mark_requeued(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
            return store.mark_requeued(work, now_ms, quiet_since_ms)

    index, now = SeesBefore(), ORDER.created_at + PERIOD_MS
    first, second = Reconciler(index, now=now), Reconciler(index, now=now + 3)
    first.run()
    second.run()
    assert first.sent + second.sent == [WorkMessage.of(ORDER)]


def test_killed_between_mark_and_message_it_is_sent_in_the_next_period(store: InMemoryWork) -> None:
    one = Reconciler(store, now=ORDER.created_at + PERIOD_MS, error=Killed())
    with pytest.raises(Killed):
        one.run()
    one.error = None
    one.now += period_ms(1) - 1
    one.run()
    assert one.sent == []
    one.now += 1
    one.run()
    assert one.sent == [WorkMessage.of(ORDER)]


def test_what_a_worker_is_at_or_has_just_tried_is_left_to_it(store: InMemoryWork) -> None:
    one = Reconciler(store, now=ORDER.created_at + PERIOD_MS)
    claim = WorkClaim(ORDERS, WorkMessage.of(ORDER), "worker", one.now - 5, one.now + 1_000)
    store.claim(claim)
    one.run()
    store.fail(claim, one.now, final=False)
    one.now += PERIOD_MS - 1
    one.run()
    assert one.sent == []
    one.now += 1
    assert one.run()["orders"].requeued == 1


@pytest.mark.parametrize("final", [True, False])
def test_what_has_ended_is_not_pending(store: InMemoryWork, final: bool) -> None:
    claim = WorkClaim(ORDERS, WorkMessage.of(ORDER), "worker", NOW_MS, NOW_MS + 1_000)
    store.claim(claim)
    if final:
        store.fail(claim, NOW_MS, final=True)
    else:
        store.finish(claim, NOW_MS)
    one = Reconciler(store, now=NOW_MS + PERIOD_MS * 10)
    assert one.run() == {"orders": Tally(), "webhooks": Tally()}


def test_what_is_pending_is_counted_by_operation_zeros_too(
    store: InMemoryWork, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Reconciler(store, now=ORDER.created_at + PERIOD_MS)
    one.run()
    told = {
        line["Operation"]: (line["PendingWork"], line["PendingOldestAge"], line["Requeued"])
        for line in emf(capsys.readouterr().out)
    }
    assert told == {"orders": ([1], [PERIOD_MS], [1]), "webhooks": ([0], [0], [0])}
    [requeued] = [
        line for line in map(json.loads, one.log.getvalue().splitlines()) if line["outcome"] == "requeued"
    ]
    assert (requeued["tenant"], requeued["correlation_id"]) == ("acme", "correlation-1")


def test_a_queue_that_takes_nothing_fails_the_run_and_not_the_other_operation(store: InMemoryWork) -> None:
    store.write(webhook(2))

    class OrdersDown(Reconciler):
        def send(self, message: WorkMessage) -> None:
            if message.operation == "orders":
                raise Unavailable("work queue", "Timeout")
            super().send(message)

    one = OrdersDown(store, now=ORDER.created_at + PERIOD_MS)
    with pytest.raises(ReconcileFailed):
        one.run()
    assert [message.operation for message in one.sent] == ["webhooks"]


def test_an_index_with_an_unreadable_item_fails_the_run_and_sends_the_rest(store: InMemoryWork) -> None:
    class Damaged(InMemoryWork):
        def page(self, shard: str, start: object | None) -> Page:
            return replace(store.page(shard, start), unreadable=1)

        def mark_requeued(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
            return store.mark_requeued(work, now_ms, quiet_since_ms)

    one = Reconciler(Damaged(), now=ORDER.created_at + PERIOD_MS)
    with pytest.raises(ReconcileFailed):
        one.run()
    assert one.sent == [WorkMessage.of(ORDER)]


def test_out_of_time_the_rest_is_left_for_the_next_run(store: InMemoryWork) -> None:
    one = Reconciler(store, now=ORDER.created_at + PERIOD_MS)
    one.run(lambda: 14_000)
    assert one.sent == []
    one.run()
    assert len(one.sent) == 1


SHARD = pending_shard("orders", ORDER.record_id)


class Paged:
    """A shard of many pages, two pieces of work each, which nobody else touches."""

    def __init__(self, pages: int) -> None:
        self.looked_at: list[int] = []
        self.pages = pages
        self.marked: set[str] = set()

    def page(self, shard: str, start: object | None) -> Page:
        if shard != SHARD:
            return Page((), 0, None)
        number = int(str(start or 0))
        self.looked_at.append(number)
        items = tuple(self._work(number * 2 + place) for place in range(2))
        return Page(items, 0, number + 1 if number + 1 < self.pages else None)

    def mark_requeued(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
        again = work.message.record_id in self.marked
        self.marked.add(work.message.record_id)
        return not again

    def _work(self, number: int) -> PendingWork:
        from handlers.domain.pending import PendingWork

        return PendingWork(WorkMessage.of(order(number)), ORDER.created_at, None, 0)


def test_a_backlog_is_worked_through_in_parts_that_go_on_where_the_last_one_stopped() -> None:
    index = Paged(pages=25)
    one = Reconciler(index, now=ORDER.created_at + PERIOD_MS)
    for _ in range(3):
        one.run()
    # Each run begins with the oldest, whose age it tells, and looks at ten pages.
    assert index.looked_at == [*range(10), 0, *range(10, 19), 0, *range(19, 25)]
    assert len(one.sent) == len(set(one.sent)) == 50
    assert one.progress == {}


def test_a_run_that_ends_within_a_page_begins_the_next_with_it() -> None:
    index = Paged(pages=5)
    one = Reconciler(index, now=ORDER.created_at + PERIOD_MS)
    left = itertools.chain([40_000] * (pending_shards("orders").index(SHARD) + 1 + 5), itertools.repeat(0))
    one.run(lambda: next(left))
    assert len(one.sent) == 5
    one.run()
    assert len(one.sent) == 10


def test_periods_double_up_to_an_hour() -> None:
    assert [period_ms(n) for n in (0, 1, 2, 3, 4, 999)] == [
        *(PERIOD_MS, 2 * PERIOD_MS, 4 * PERIOD_MS, 8 * PERIOD_MS),
        *(LONGEST_PERIOD_MS, LONGEST_PERIOD_MS),
    ]


def test_the_index_is_read_page_by_page_and_past_what_nobody_can_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("handlers.adapters.pending_index.PAGE_ITEMS", 2)
    with mock_aws():
        client: Any = boto3.client("dynamodb", region_name="us-east-1")
        make_records_table(client, "records")
        records, index = DynamoDbRecords("records", client), DynamoDbPending("records", client)
        orders = [one for one in map(order, range(60)) if pending_shard("orders", one.record_id) == SHARD]
        for age, one in enumerate(orders):
            records.write(replace(one, created_at=ORDER.created_at - age))
        client.put_item(
            TableName="records",
            Item={"pk": {"S": "x"}, "pendingShard": {"S": SHARD}, "pendingSince": {"N": "1"}},
        )
        first = index.page(SHARD, None)
        assert (len(first.items), first.unreadable) == (1, 1)
        found, start = list(first.items), first.next
        while start is not None:
            page = index.page(SHARD, start)
            found += page.items
            start = page.next
    assert [work.message for work in found] == [WorkMessage.of(one) for one in reversed(orders)]
