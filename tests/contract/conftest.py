"""The stores that the contract suite runs over: the fake, moto, and (marked `platform`) the local AWS."""

from __future__ import annotations

import itertools
import uuid
from typing import TYPE_CHECKING

import pytest
from moto import mock_aws

from handlers.adapters.receipts import DynamoDbReceipts
from tests.contract.work_world import work_client, work_world
from tests.fakes.receipts import InMemoryReceipts
from tests.one_session import client_made_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

    from handlers.domain.ports import ReceiptStore

__all__ = ["work_client", "work_world"]

_NUMBERS = itertools.count()


def make_table(client: DynamoDBClient, kind: str) -> str:
    """Make an empty table keyed by `pk`, and return its name."""
    name = f"{kind}-{next(_NUMBERS)}-{uuid.uuid4().hex[:8]}"
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return name


def _fresh_table(client: DynamoDBClient) -> DynamoDbReceipts:
    return DynamoDbReceipts(make_table(client, "receipts"), client)


def _local_aws(request: pytest.FixtureRequest) -> DynamoDbReceipts:
    return _fresh_table(request.getfixturevalue("platform").client("dynamodb"))


LOCAL_AWS = pytest.param("local-aws", marks=pytest.mark.platform)


@pytest.fixture(params=["fake", "moto", LOCAL_AWS])
def make_store(request: pytest.FixtureRequest) -> Iterator[Callable[[], ReceiptStore]]:
    """Makes empty stores of one kind."""
    if request.param == "fake":
        yield InMemoryReceipts
    elif request.param == "moto":
        with mock_aws():
            client = client_made_once("dynamodb", region_name="us-east-1")
            yield lambda: _fresh_table(client)
    else:
        yield lambda: _local_aws(request)


@pytest.fixture(params=["fake", LOCAL_AWS])
def atomic_store(request: pytest.FixtureRequest) -> ReceiptStore:
    """One empty store that many threads may write to at once; moto checks and writes in two steps."""
    return InMemoryReceipts() if request.param == "fake" else _local_aws(request)


@pytest.fixture
def store(make_store: Callable[[], ReceiptStore]) -> ReceiptStore:
    """One empty store."""
    return make_store()
