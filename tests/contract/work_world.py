"""Records with work (in memory, moto, local AWS), and what a test can see of them from outside."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.pending_index import DynamoDbPending
from handlers.adapters.records import DynamoDbRecords
from handlers.adapters.work_store import DynamoDbWork
from handlers.domain.outbox import Delivery
from handlers.domain.work import ORDERS, pending_shard
from handlers.domain.work_item import WorkClaim, WorkItem
from handlers.domain.work_message import WorkMessage
from tests.builders import NOW_MS
from tests.fakes.work import InMemoryWork
from tests.records_table import make_records_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from handlers.domain.pending import PendingIndex, PendingWork
    from handlers.domain.work_item import WorkStore

ORDER = Delivery("acme", "orders", "E1", "order.completed", "R1", '{"id":"R1"}', "correlation-1", NOW_MS)
MESSAGE = WorkMessage.of(ORDER)
LEASE_MS = 60_000
_NUMBERS = itertools.count()


class Writer(Protocol):
    """What writes records, as `dispatch` does."""

    def write(self, delivery: Delivery) -> str | None: ...


@dataclass(frozen=True)
class State:
    """What the attributes of the one record say; 0 for a lease, None for the rest that is not there."""

    status: str
    updated_at: int
    owner: str | None
    lease_until: int
    requeues: int


@dataclass
class World:
    records: Writer
    work: WorkStore
    pending: PendingIndex
    state: Callable[[], State]
    clock: Clock

    def pending_work(self) -> list[PendingWork]:
        return list(self.pending.page(pending_shard("orders", "R1"), None).items)


@pytest.fixture(scope="module")
def work_client() -> Iterator[Any]:
    """One client for all tests, each of which makes a table of its own: a client takes longer than a test."""
    with mock_aws():
        yield boto3.client("dynamodb", region_name="us-east-1")


@pytest.fixture(params=["fake", "moto", pytest.param("local-aws", marks=pytest.mark.platform)])
def work_world(request: pytest.FixtureRequest) -> World:
    clock = Clock()
    if request.param == "fake":
        fake = InMemoryWork(clock)
        return World(fake, fake, fake, lambda: state_in_memory(fake), clock)
    if request.param == "moto":
        client = request.getfixturevalue("work_client")
    else:
        client = request.getfixturevalue("platform").client("dynamodb")
    table = f"records-{next(_NUMBERS)}-{uuid.uuid4().hex[:8]}"
    make_records_table(client, table)
    return World(
        DynamoDbRecords(table, client, clock),
        DynamoDbWork(table, client),
        DynamoDbPending(table, client),
        lambda: state_in_table(client, table),
        clock,
    )


class Clock:
    """Of who writes records."""

    now = NOW_MS

    def __call__(self) -> int:
        return self.now


def state_in_memory(fake: InMemoryWork) -> State:
    [one] = fake.records.values()
    return State(one.item.status, one.updated_at, one.item.owner, one.item.lease_until, one.requeues)


def state_in_table(client: Any, table: str) -> State:
    [found] = client.scan(TableName=table, ConsistentRead=True)["Items"]

    def number(name: str) -> int:
        return int(found.get(name, {}).get("N", "0"))

    owner = found.get("workOwner", {}).get("S")
    return State(
        found["status"]["S"], number("updatedAt"), owner, number("workLeaseUntil"), number("requeues")
    )


def claim(owner: str, **changes: Any) -> WorkClaim:
    return replace(WorkClaim(ORDERS, MESSAGE, owner, NOW_MS, NOW_MS + LEASE_MS), **changes)


def item(**changes: Any) -> WorkItem:
    return replace(WorkItem(ORDER, "PROCESSING", 1, "one", NOW_MS + LEASE_MS), **changes)
