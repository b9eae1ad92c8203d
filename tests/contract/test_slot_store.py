"""One suite over every slot store: a slot is taken once, and its own request knows it again."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.slots import DynamoDbSlots
from tests.contract.conftest import LOCAL_AWS, make_table
from tests.fakes.slots import InMemorySlots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handlers.domain.operation import SlotStore


@pytest.fixture(params=["fake", "moto", LOCAL_AWS])
def slots(request: pytest.FixtureRequest) -> Iterator[SlotStore]:
    if request.param == "fake":
        yield InMemorySlots()
    elif request.param == "moto":
        with mock_aws():
            client = boto3.client("dynamodb", region_name="us-east-1")
            yield DynamoDbSlots(make_table(client, "slots"), client)
    else:
        client = request.getfixturevalue("platform").client("dynamodb")
        yield DynamoDbSlots(make_table(client, "slots"), client)


@pytest.mark.parametrize("slot", ["monday", '["dr-grey","2031-01-01T10:00:00+00:00"]', "a#b", "ž😀"])
def test_a_slot_is_taken_once_whoever_comes_second(slots: SlotStore, slot: str) -> None:
    assert slots.take("acme", slot, "generation-1", "R1")
    for generation in ("generation-2", "generation-3"):
        assert not slots.take("acme", slot, generation, "R2")


def test_the_request_that_has_a_slot_is_told_so_again(slots: SlotStore) -> None:
    for _ in range(3):
        assert slots.take("acme", "monday", "generation-1", "R1")


def test_other_slots_and_other_tenants_are_free(slots: SlotStore) -> None:
    assert slots.take("acme", "monday", "generation-1", "R1")
    assert slots.take("acme", "tuesday", "generation-2", "R2")
    assert slots.take("bluebird", "monday", "generation-3", "R3")


@pytest.mark.parametrize("kind", ["fake", LOCAL_AWS])
def test_of_many_at_once_one_takes_it(kind: str, request: pytest.FixtureRequest) -> None:
    store: SlotStore = InMemorySlots()
    if kind != "fake":
        client = request.getfixturevalue("platform").client("dynamodb")
        store = DynamoDbSlots(make_table(client, "slots"), client)
    barrier, taken = threading.Barrier(12), []

    def take() -> None:
        generation = uuid.uuid4().hex
        barrier.wait()
        taken.append(store.take("acme", "monday", generation, "R"))

    threads = [threading.Thread(target=take) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [False] * 11 + [True]
