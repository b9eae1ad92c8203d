"""`reconcile`: a message that was dropped is sent again, once a period, whoever else is looking."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.domain.errors import Unavailable
from handlers.domain.pending import LONGEST_PERIOD_MS, MOST_REQUEUES, PERIOD_MS, Page, PendingWork, period_ms
from handlers.domain.work import ORDERS, pending_shards
from handlers.domain.work_item import Claimed, WorkClaim
from handlers.domain.work_message import WorkMessage
from handlers.reconcile import ReconcileFailed, Tally
from tests.builders import NOW_MS
from tests.fakes.work import InMemoryWork
from tests.unit.handlers.dispatch_bench import Killed, emf
from tests.unit.handlers.reconcile_bench import ORDER, Reconciler, told
from tests.unit.handlers.work_bench import webhook


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

        def give_up(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
            raise AssertionError("nothing was sent again so often")

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
    counted = {
        name: (line["PendingWork"], line["PendingOldestAge"], line["Requeued"], line["WorkGivenUp"])
        for name, line in told(capsys.readouterr().out).items()
    }
    assert counted == {"orders": ([1], [PERIOD_MS], [1], [0]), "webhooks": ([0], [0], [0], [0])}
    [requeued] = [line for line in one.log_lines() if line["outcome"] == "requeued"]
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


def test_what_was_sent_again_for_a_day_is_given_up_and_can_be_brought_back(
    store: InMemoryWork, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Reconciler(store)
    given_up = []
    for minute in range(0, 36 * 60, 5):
        one.now = ORDER.created_at + minute * 60_000
        # Each message kills its worker, which can mark nothing: it is claimed, and its lease lapses.
        if len(one.sent) > store.records["acme", ORDER.record_id].item.attempts:
            store.claim(
                WorkClaim(ORDERS, WorkMessage.of(ORDER), f"killed-{minute}", one.now, one.now + 1_000)
            )
        given_up += [minute] * one.run()["orders"].given_up

    assert len(one.sent) == MOST_REQUEUES
    [stored] = store.records.values()
    assert (stored.item.status, stored.since, len(given_up)) == ("FAILED", None, 1)
    assert given_up[0] > 20 * 60
    counted = [line for line in emf(capsys.readouterr().out) if line["WorkGivenUp"] == [1]]
    # Once for its tenant, as it happens, and once at the run's end for all of them.
    assert [line.get("TenantId") for line in counted] == ["acme", None]
    assert [line.get("Operation") for line in counted] == [None, "orders"]
    [line] = [line for line in one.log_lines() if line["outcome"] == "given_up"]
    assert (line["level"], line["tenant"], line["record_id"]) == ("ERROR", "acme", ORDER.record_id)

    redriven = WorkClaim(ORDERS, WorkMessage.of(ORDER), "mended", one.now, one.now + 1_000)
    assert isinstance(store.claim(redriven), Claimed)
    assert store.finish(redriven, one.now)


def test_periods_double_up_to_an_hour() -> None:
    assert [period_ms(n) for n in (0, 1, 2, 3, 4, 999)] == [
        *(PERIOD_MS, 2 * PERIOD_MS, 4 * PERIOD_MS, 8 * PERIOD_MS),
        *(LONGEST_PERIOD_MS, LONGEST_PERIOD_MS),
    ]
