"""Records that a release without queued work has written: `dispatch replay --republish` mends them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.records import DynamoDbRecords
from handlers.adapters.work_store import DynamoDbWork
from handlers.domain.keys import partition_key
from handlers.domain.work import BY_OPERATION
from handlers.domain.work_item import AlreadyDone, Claimed, WorkClaim
from handlers.domain.work_message import WorkMessage
from tests.builders import NOW_MS
from tests.unit.handlers.work_bench import order, webhook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

    from handlers.domain.outbox import Delivery

TABLE = "onceward-dev_records"


@pytest.fixture
def client() -> Iterator[DynamoDBClient]:
    with mock_aws():
        made = boto3.client("dynamodb", region_name="eu-central-1")
        made.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield made


def written_by_an_earlier_release(client: DynamoDBClient, delivery: Delivery) -> None:
    """As that `dispatch` did with an operation it did not know: it published at once, and queued nothing."""
    client.put_item(
        TableName=TABLE,
        Item={
            "pk": {"S": partition_key(delivery.tenant_id, delivery.record_id)},
            "tenantId": {"S": delivery.tenant_id},
            "recordId": {"S": delivery.record_id},
            "eventId": {"S": delivery.event_id},
            "operation": {"S": delivery.operation},
            "type": {"S": delivery.type},
            "document": {"S": delivery.document},
            "correlationId": {"S": delivery.correlation_id},
            "createdAt": {"N": str(delivery.created_at)},
        },
    )


@pytest.mark.parametrize("delivery", [order(1), webhook(1)], ids=["orders", "webhooks"])
def test_a_record_without_a_status_takes_its_work_when_it_is_dispatched_again(
    client: DynamoDBClient, delivery: Delivery
) -> None:
    written_by_an_earlier_release(client, delivery)
    # `dispatch` goes on to queue the work: the record is there, and of this event.
    DynamoDbRecords(TABLE, client).write(delivery)
    store = DynamoDbWork(TABLE, client)
    work = BY_OPERATION[delivery.operation]
    claim = WorkClaim(work, WorkMessage.of(delivery), "worker", NOW_MS, NOW_MS + 1_000)

    assert isinstance(store.claim(claim), Claimed)
    # Should the worker die now, the reconciler finds it.
    key = {"pk": {"S": partition_key(delivery.tenant_id, delivery.record_id)}}
    assert "pendingShard" in client.get_item(TableName=TABLE, Key=key)["Item"]

    assert store.finish(claim, NOW_MS)
    assert isinstance(store.claim(claim), AlreadyDone)
