"""One suite over what writes records: each is written once, by one event."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.records import DynamoDbRecords
from handlers.domain.outbox import Delivery, DispatchConflict
from tests.builders import NOW_MS
from tests.contract.conftest import LOCAL_AWS, make_table
from tests.fakes.records import InMemoryRecords

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAD = Delivery("acme", "leads", "E1", "lead.created", "R1", '{"id":"R1"}', "correlation-1", NOW_MS)
ORDER = replace(LEAD, operation="orders", type="order.completed")


class Writer(Protocol):
    """What writes records, as `dispatch` does."""

    def write(self, delivery: Delivery) -> str | None: ...


@pytest.fixture(params=["fake", "moto", LOCAL_AWS])
def records(request: pytest.FixtureRequest) -> Iterator[Writer]:
    if request.param == "fake":
        yield InMemoryRecords()
    elif request.param == "moto":
        with mock_aws():
            client = boto3.client("dynamodb", region_name="us-east-1")
            yield DynamoDbRecords(make_table(client, "records"), client)
    else:
        client = request.getfixturevalue("platform").client("dynamodb")
        yield DynamoDbRecords(make_table(client, "records"), client)


@pytest.mark.parametrize(("delivery", "status"), [(LEAD, None), (ORDER, "ACCEPTED")])
def test_a_record_that_comes_again_is_found_with_its_status(
    records: Writer, delivery: Delivery, status: str | None
) -> None:
    assert records.write(delivery) is None
    for _ in range(2):
        assert records.write(delivery) == status


@pytest.mark.parametrize("delivery", [LEAD, ORDER])
def test_another_event_may_not_take_a_record_s_id(records: Writer, delivery: Delivery) -> None:
    records.write(delivery)
    with pytest.raises(DispatchConflict, match="record R1 was written by another event"):
        records.write(replace(delivery, event_id="E2"))
    records.write(delivery)


@pytest.mark.parametrize("delivery", [LEAD, ORDER])
def test_other_records_and_other_tenants_are_free(records: Writer, delivery: Delivery) -> None:
    assert records.write(delivery) is None
    assert records.write(replace(delivery, record_id="R2", event_id="E2")) is None
    assert records.write(replace(delivery, tenant_id="bluebird", event_id="E3")) is None
