"""The figures of `onceward cost`: each operation from its request to the last thing that follows, counted."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from handlers.adapters.records import DynamoDbRecords
from handlers.domain.work import PENDING_SHARDS
from ops.costs.counted import AUTHORIZE, DUPLICATE, FRESH, OPERATIONS, RECONCILE
from tests.integration.cost_world import CostWorld
from tests.integration.counting import index_writes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handlers.domain.outbox import Delivery
    from ops.costs.counted import Step

pytestmark = pytest.mark.platform

# Bytes differ from call to call (the digits of a duration, say), and the table has them rounded.
_TOLERATED_BYTES = 100


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, behind_the_wire: Any) -> Iterator[CostWorld]:
    made = CostWorld(monkeypatch, behind_the_wire)
    yield made
    made.close()


def as_in(table: Step, measured: Step) -> Step:
    """What was measured, with the table's own bytes where they are near enough."""
    near = {
        name: getattr(table, name)
        for name in ("log_bytes", "stores")
        if abs(getattr(table, name) - getattr(measured, name)) <= _TOLERATED_BYTES
    }
    return replace(measured, **near)


def key() -> str:
    # Of a UUID's length, as callers' keys are: the units of an item depend on it.
    return str(uuid.uuid4())


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_request_and_what_follows_from_it_ask_what_the_table_says(world: CostWorld, operation: str) -> None:
    steps = world.accepted(operation, key())
    assert tuple(map(as_in, FRESH[operation], steps)) == FRESH[operation]
    assert len(steps) == len(FRESH[operation])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_duplicate_asks_what_the_table_says(world: CostWorld, operation: str) -> None:
    again = key()
    world.sent(operation, again)
    world.forget()
    assert as_in(DUPLICATE[operation], world.sent(operation, again)) == DUPLICATE[operation]


def test_the_authorizer_asks_what_the_table_says(world: CostWorld) -> None:
    assert as_in(AUTHORIZE, world.authorized()) == AUTHORIZE


def test_the_reconciler_asks_what_the_table_says(world: CostWorld) -> None:
    assert as_in(RECONCILE, world.reconciled()) == RECONCILE
    assert RECONCILE.reads == 0.5 * PENDING_SHARDS * 2


def test_a_second_write_and_a_longer_line_are_noticed(
    world: CostWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = DynamoDbRecords.write

    def twice(records: DynamoDbRecords, delivery: Delivery) -> str | None:
        print("x" * 2 * _TOLERATED_BYTES)
        write(records, delivery)
        return write(records, delivery)

    monkeypatch.setattr(DynamoDbRecords, "write", twice)
    first, second = world.accepted("leads", key())
    table = FRESH["leads"]
    assert as_in(table[0], first) == table[0]
    noticed = as_in(table[1], second)
    assert noticed.writes == 2 * table[1].writes
    assert noticed.log_bytes > table[1].log_bytes


_IN_INDEX = {"pendingShard": {"S": "orders#1"}, "pendingSince": {"N": "1"}, "status": {"S": "ACCEPTED"}}


@pytest.mark.parametrize(
    ("before", "after", "units"),
    [
        ({}, _IN_INDEX, 1),
        (_IN_INDEX, {"status": {"S": "COMPLETED"}}, 1),
        (_IN_INDEX, _IN_INDEX | {"status": {"S": "PROCESSING"}}, 1),
        (_IN_INDEX, _IN_INDEX | {"pendingSince": {"N": "2"}}, 2),
        (_IN_INDEX, _IN_INDEX | {"workOwner": {"S": "me"}}, 0),
        ({}, {"status": {"S": "COMPLETED"}}, 0),
    ],
)
def test_index_writes_are_dynamodbs(before: dict[str, Any], after: dict[str, Any], units: int) -> None:
    assert index_writes(before, after) == units
