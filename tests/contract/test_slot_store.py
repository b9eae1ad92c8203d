"""One suite over every slot store: a slot is taken once, and its own request knows it again."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.slots import DynamoDbSlots, from_item
from handlers.domain.errors import CorruptItem
from handlers.domain.operation import Booking
from tests.contract.conftest import LOCAL_AWS, make_table
from tests.fakes.slots import InMemorySlots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handlers.domain.operation import SlotStore

FIRST = Booking("generation-1", "R1", None)


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
    first = Booking("generation-1", "R1", "hash")
    assert slots.take("acme", slot, first) is None
    for generation in ("generation-2", "generation-3"):
        assert slots.take("acme", slot, Booking(generation, "R2", "another")) == first


def test_the_request_that_has_a_slot_is_told_so_again(slots: SlotStore) -> None:
    for _ in range(3):
        assert slots.take("acme", "monday", FIRST) is None


def test_other_slots_and_other_tenants_are_free(slots: SlotStore) -> None:
    assert slots.take("acme", "monday", FIRST) is None
    assert slots.take("acme", "tuesday", Booking("generation-2", "R2", None)) is None
    assert slots.take("bluebird", "monday", Booking("generation-3", "R3", None)) is None


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
        taken.append(store.take("acme", "monday", Booking(generation, "R", None)) is None)

    threads = [threading.Thread(target=take) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [False] * 11 + [True]


@pytest.mark.parametrize(
    ("item", "attribute"),
    [
        ({}, "generation"),
        ({"generation": {"S": "g"}}, "recordId"),
        ({"generation": {"N": "1"}, "recordId": {"S": "R"}}, "generation"),
        ({"generation": {"S": "g"}, "recordId": {"S": "R"}, "holder": {"N": "1"}}, "holder"),
    ],
)
def test_what_is_no_booking_is_refused_by_the_attribute_s_name(item: dict[str, Any], attribute: str) -> None:
    with pytest.raises(CorruptItem, match=f"is no booking: {attribute}$"):
        from_item(item)


def test_a_booking_of_an_earlier_release_names_nobody() -> None:
    item = {"pk": {"S": "acme#monday"}, "generation": {"S": "g"}, "recordId": {"S": "R"}}
    assert from_item(item) == Booking("g", "R", None)
