"""`reconcile` looks at every shard of every operation, and says nothing of what it did not see."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.pending_index import DynamoDbPending
from handlers.adapters.records import DynamoDbRecords
from handlers.domain.errors import Unavailable
from handlers.domain.pending import PERIOD_MS, Page, PendingWork
from handlers.domain.work import pending_shard, pending_shards
from handlers.domain.work_message import WorkMessage
from handlers.reconcile import ReconcileFailed
from tests.fakes.work import InMemoryWork
from tests.records_table import make_records_table
from tests.unit.handlers.reconcile_bench import ORDER, Reconciler, told
from tests.unit.handlers.work_bench import order, webhook


@pytest.fixture
def store() -> InMemoryWork:
    one = InMemoryWork()
    one.write(ORDER)
    return one


def test_nothing_is_said_of_the_age_of_what_was_not_looked_at(
    store: InMemoryWork, capsys: pytest.CaptureFixture[str]
) -> None:
    store.write(webhook(2))
    one = Reconciler(store, now=ORDER.created_at + PERIOD_MS * 10)
    # Eight shards of orders, and seven of webhooks' eight: the last may hold what is oldest.
    left = itertools.chain([40_000] * 15, itertools.repeat(0))
    one.run(lambda: next(left))
    said = told(capsys.readouterr().out)
    orders, webhooks = said["orders"], said["webhooks"]
    assert (orders["PendingWork"], orders["PendingOldestAge"]) == ([1], [PERIOD_MS * 10])
    assert not {"PendingWork", "PendingOldestAge"} & set(webhooks)
    assert webhooks["Requeued"] == [0]


def test_a_shard_that_cannot_be_read_leaves_its_operations_age_untold(
    store: InMemoryWork, capsys: pytest.CaptureFixture[str]
) -> None:
    class OneDown(InMemoryWork):
        def page(self, shard: str, start: object | None) -> Page:
            if shard == "webhooks#3":
                raise Unavailable("records", "ThrottlingException")
            return store.page(shard, start)

    with pytest.raises(ReconcileFailed):
        Reconciler(OneDown()).run()
    said = told(capsys.readouterr().out)
    assert said["orders"]["PendingOldestAge"] == [0]
    assert "PendingOldestAge" not in said["webhooks"]
    assert said["webhooks"]["ReconcileFailed"] == [1]


def test_the_age_of_a_backlog_is_told_though_no_run_comes_to_its_end(
    store: InMemoryWork, capsys: pytest.CaptureFixture[str]
) -> None:
    store.write(webhook(2))
    one = Reconciler(store, now=ORDER.created_at + PERIOD_MS)
    left = itertools.chain([40_000] * 17, itertools.repeat(0))  # all are looked at, none is worked through
    one.run(lambda: next(left))
    said = told(capsys.readouterr().out)
    assert one.sent == []
    assert [said[name]["PendingOldestAge"] for name in ("orders", "webhooks")] == [[PERIOD_MS], [PERIOD_MS]]


def test_the_shards_of_all_operations_are_taken_in_one_order(store: InMemoryWork) -> None:
    store.write(webhook(2))
    one = Reconciler(store, now=ORDER.created_at + PERIOD_MS, order=reversed)
    one.run()
    assert [message.operation for message in one.sent] == ["webhooks", "orders"]


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

    def give_up(self, work: PendingWork, now_ms: int, quiet_since_ms: int) -> bool:
        raise AssertionError("nothing was sent again so often")

    def _work(self, number: int) -> PendingWork:
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
    # Asked before each shard is looked at, before each is worked through, and before each piece of work.
    shards = len(pending_shards("orders"))
    asked = 2 * shards + pending_shards("orders").index(SHARD) + 1 + 5
    left = itertools.chain([40_000] * asked, itertools.repeat(0))
    one.run(lambda: next(left))
    assert (len(one.sent), index.looked_at) == (5, [0, 1, 2])
    one.run()
    assert index.looked_at == [0, 1, 2, 0, 2, 3, 4]
    assert len(one.sent) == 10


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
