"""One suite over records with work (in memory, moto, local AWS): what passes may stand in for the table."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws

from handlers.adapters.pending_index import DynamoDbPending
from handlers.adapters.records import DynamoDbRecords
from handlers.adapters.work_store import DynamoDbWork
from handlers.domain.errors import Refused, Unavailable
from handlers.domain.outbox import Delivery
from handlers.domain.pending import PERIOD_MS, PendingIndex, PendingWork
from handlers.domain.work import ORDERS, pending_shard
from handlers.domain.work_item import (
    AlreadyDone,
    Claimed,
    NoSuchWork,
    TwinAtWork,
    WorkClaim,
    WorkItem,
    WorkStore,
)
from handlers.domain.work_message import WorkMessage
from tests.builders import NOW_MS
from tests.fakes.work import InMemoryWork
from tests.records_table import make_records_table

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDER = Delivery("acme", "orders", "E1", "order.completed", "R1", '{"id":"R1"}', "correlation-1", NOW_MS)
MESSAGE = WorkMessage.of(ORDER)
LEASE_MS = 60_000
_NUMBERS = itertools.count()


class Writer(Protocol):
    """What writes records, as `dispatch` does."""

    def write(self, delivery: Delivery) -> None: ...


@dataclass
class World:
    records: Writer
    work: WorkStore
    pending: PendingIndex

    def pending_work(self) -> list[PendingWork]:
        return list(self.pending.page(pending_shard("orders", "R1"), None).items)


@pytest.fixture(scope="module")
def moto_client() -> Iterator[Any]:
    """One client for all tests, each of which makes a table of its own: a client takes longer than a test."""
    with mock_aws():
        yield boto3.client("dynamodb", region_name="us-east-1")


@pytest.fixture(params=["fake", "moto", pytest.param("local-aws", marks=pytest.mark.platform)])
def world(request: pytest.FixtureRequest) -> World:
    if request.param == "fake":
        fake = InMemoryWork()
        return World(fake, fake, fake)
    if request.param == "moto":
        client = request.getfixturevalue("moto_client")
    else:
        client = request.getfixturevalue("platform").client("dynamodb")
    table = f"records-{next(_NUMBERS)}-{uuid.uuid4().hex[:8]}"
    make_records_table(client, table)
    return World(DynamoDbRecords(table, client), DynamoDbWork(table, client), DynamoDbPending(table, client))


def claim(owner: str, **changes: Any) -> WorkClaim:
    return replace(WorkClaim(ORDERS, MESSAGE, owner, NOW_MS, NOW_MS + LEASE_MS), **changes)


def item(**changes: Any) -> WorkItem:
    return replace(WorkItem(ORDER, "PROCESSING", 1, "one", NOW_MS + LEASE_MS), **changes)


def test_the_first_claim_brings_the_record_whole(world: World) -> None:
    world.records.write(ORDER)
    assert world.work.claim(claim("one")) == Claimed(item())


def test_a_twin_is_told_until_when_the_first_may_be_at_it(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    assert world.work.claim(claim("two")) == TwinAtWork(NOW_MS + LEASE_MS)


def test_a_claim_that_the_sdk_sends_twice_recognises_itself(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    assert world.work.claim(claim("one")) == Claimed(item())


@pytest.mark.parametrize(("after_ms", "free"), [(LEASE_MS, False), (LEASE_MS + 1, True)])
def test_a_lapsed_claim_is_taken_over(world: World, after_ms: int, free: bool) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    later = claim("two", now_ms=NOW_MS + after_ms, lease_until=NOW_MS + after_ms + LEASE_MS)
    outcome = world.work.claim(later)
    taken = Claimed(item(owner="two", attempts=2, lease_until=later.lease_until))
    assert outcome == (taken if free else TwinAtWork(NOW_MS + LEASE_MS))


def test_what_is_done_is_done_and_no_longer_pending(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    assert world.work.finish(claim("one"), NOW_MS + 5)
    assert world.work.claim(claim("two")) == AlreadyDone()
    assert world.pending_work() == []


def test_a_finish_that_the_sdk_sends_twice_is_a_finish(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    assert [world.work.finish(claim("one"), NOW_MS + 5) for _ in range(2)] == [True, True]


def test_who_was_too_slow_marks_nothing_and_gives_nothing_back(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    later = NOW_MS + LEASE_MS + 1
    world.work.claim(claim("two", now_ms=later, lease_until=later + LEASE_MS))

    assert not world.work.finish(claim("one"), later)
    world.work.fail(claim("one"), later, final=True)

    assert world.work.claim(claim("three", now_ms=later)) == TwinAtWork(later + LEASE_MS)
    assert len(world.pending_work()) == 1


def test_what_was_given_back_can_be_claimed_at_once(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    for _ in range(2):  # sent twice, it is the same
        world.work.fail(claim("one"), NOW_MS + 5, final=False)
    assert world.work.claim(claim("two")) == Claimed(item(owner="two", attempts=2))
    assert [work.since for work in world.pending_work()] == [NOW_MS]


def test_what_failed_for_good_is_not_pending_until_somebody_brings_it_back(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    for _ in range(2):
        world.work.fail(claim("one"), NOW_MS + 5, final=True)
    assert world.pending_work() == []

    redriven = claim("two", now_ms=NOW_MS + 7)
    assert world.work.claim(redriven) == Claimed(item(owner="two", attempts=2))
    assert [work.since for work in world.pending_work()] == [NOW_MS + 7]


def test_a_message_without_a_record_makes_none(world: World) -> None:
    assert world.work.claim(claim("one")) == NoSuchWork()
    assert not world.work.finish(claim("one"), NOW_MS)
    world.work.fail(claim("one"), NOW_MS, final=True)
    assert world.work.claim(claim("one")) == NoSuchWork()


def test_a_message_of_another_event_claims_nothing(world: World) -> None:
    world.records.write(ORDER)
    assert world.work.claim(claim("one", message=replace(MESSAGE, event_id="E2"))) == NoSuchWork()
    assert world.work.claim(claim("one", message=replace(MESSAGE, tenant_id="bluebird"))) == NoSuchWork()
    assert world.work.claim(claim("two")) == Claimed(item(owner="two"))


DUE = NOW_MS + PERIOD_MS


def test_pending_work_is_marked_once_and_counted(world: World) -> None:
    world.records.write(ORDER)
    [seen] = world.pending_work()
    assert seen == PendingWork(MESSAGE, NOW_MS, None, 0)

    assert world.pending.mark_requeued(seen, DUE, NOW_MS)
    # Another reconciler, which saw the same, and one that saw the mark.
    assert not world.pending.mark_requeued(seen, DUE + 1, NOW_MS + 1)
    [marked] = world.pending_work()
    assert marked == PendingWork(MESSAGE, NOW_MS, DUE, 1)
    assert world.pending.mark_requeued(marked, DUE + 9, NOW_MS + 9)


def test_work_that_somebody_is_at_or_was_a_moment_ago_is_left_alone(world: World) -> None:
    world.records.write(ORDER)
    [seen] = world.pending_work()
    world.work.claim(claim("one", now_ms=DUE - 10, lease_until=DUE))
    assert not world.pending.mark_requeued(seen, DUE, DUE)  # at it
    world.work.fail(claim("one"), DUE - 1, final=False)
    assert not world.pending.mark_requeued(seen, DUE, NOW_MS)  # a moment ago: its message waits for its turn
    assert world.pending.mark_requeued(seen, DUE, DUE - 1)


@pytest.mark.parametrize("ended", ["finished", "failed"])
def test_work_that_has_ended_is_not_sent_again_by_who_saw_it_pending(world: World, ended: str) -> None:
    world.records.write(ORDER)
    [seen] = world.pending_work()
    world.work.claim(claim("one"))
    if ended == "finished":
        world.work.finish(claim("one"), NOW_MS)
    else:
        world.work.fail(claim("one"), NOW_MS, final=True)
    assert not world.pending.mark_requeued(seen, DUE + LEASE_MS, DUE)


def test_work_whose_record_is_gone_is_not_made_anew(world: World) -> None:
    assert not world.pending.mark_requeued(PendingWork(MESSAGE, NOW_MS, None, 0), DUE, NOW_MS)
    assert world.work.claim(claim("one")) == NoSuchWork()


@pytest.mark.parametrize(
    ("code", "expected"), [("ThrottlingException", Unavailable), ("AccessDenied", Refused)]
)
def test_a_table_that_does_not_answer_is_an_outage(code: str, expected: type[Exception]) -> None:
    client = boto3.client(
        "dynamodb", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    work = DynamoDbWork("records", client)
    with Stubber(client) as stubber:
        for call in (
            lambda: work.claim(claim("one")),
            lambda: work.finish(claim("one"), NOW_MS),
            lambda: work.fail(claim("one"), NOW_MS, final=False),
        ):
            stubber.add_client_error("update_item", service_error_code=code)
            with pytest.raises(expected, match=code):
                call()
