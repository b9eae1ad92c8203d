"""An answer too large for its receipt: kept without its body, said on replay, and never a second effect."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from handlers import ingest
from handlers.adapters.receipt_item import to_item
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.operations.leads import LEADS
from tests.builders import authorizer_context, lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.item_size import MAX_ITEM_BYTES, item_bytes
from tests.unit.handlers.ingest_calls import keyed, post

if TYPE_CHECKING:
    from collections.abc import Callable

# With an answer that repeats what the platform derived, document and body are about twice as long as that.
KEPT = [1, 150_000, 195_000]
DROPPED = [197_000, 205_000, 240_000]


@pytest.fixture
def answers_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Make leads answer with a score of that many bytes."""

    def arrange(size: int) -> None:
        wordy = replace(LEADS, derive=lambda _: {"score": {"why": "w" * size}})
        monkeypatch.setattr(ingest, "BY_RESOURCE", {"/v1/leads": wordy})

    return arrange


@pytest.mark.parametrize("size", DROPPED)
def test_a_replay_keeps_status_and_headers_and_says_that_the_body_is_gone(
    answers_of: Callable[[int], None], size: int, capsys: pytest.CaptureFixture[str]
) -> None:
    answers_of(size)
    store = InMemoryReceipts()
    first = post(store, keyed("k"))
    assert first["statusCode"] == 201
    assert json.loads(first["body"])["score"] == {"why": "w" * size}
    assert "Idempotent-Body-Omitted" not in first["headers"]
    assert store.writes == 1
    assert '"ResponseTooLarge":[1.0]' in capsys.readouterr().out
    kept = dict(store.items)

    again = post(store, keyed("k"))
    assert store.writes == 2
    assert store.items == kept
    assert (again["statusCode"], again["body"]) == (201, "")
    added = {"Idempotent-Replayed": "true", "Idempotent-Body-Omitted": "too-large"}
    assert again["headers"].items() >= (first["headers"] | added).items()


@pytest.mark.parametrize("size", KEPT)
def test_an_answer_that_fits_is_replayed_whole(answers_of: Callable[[int], None], size: int) -> None:
    answers_of(size)
    store = InMemoryReceipts()
    first, again = post(store, keyed("k")), post(store, keyed("k"))
    assert again["body"] == first["body"]
    assert "Idempotent-Body-Omitted" not in again["headers"]


@pytest.mark.parametrize("size", [*KEPT, *DROPPED])
def test_whatever_the_answer_the_receipt_fits_an_item(answers_of: Callable[[int], None], size: int) -> None:
    answers_of(size)
    store = InMemoryReceipts()
    longest = lead_event(
        headers={"idempotency-key": ["k" * 255], "x-correlation-id": ["c" * 128]},
        authorizer=authorizer_context(tenantId="t" * 32),
    )
    post(store, longest)
    assert item_bytes(to_item(store.items["t" * 32, "k" * 255])) < MAX_ITEM_BYTES


def test_whole_such_a_receipt_would_be_refused_by_the_table(answers_of: Callable[[int], None]) -> None:
    answers_of(max(DROPPED))
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        client.create_table(
            TableName="receipts",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        store = DynamoDbReceipts("receipts", client)
        first = post(store, keyed("k"))
        assert (first["statusCode"], len(first["body"]) > max(DROPPED)) == (201, True)
        item = client.get_item(TableName="receipts", Key={"pk": {"S": "acme#k"}})["Item"]
        item["response"]["M"]["body"] = {"S": first["body"]}
        assert item_bytes(item) > MAX_ITEM_BYTES
        with pytest.raises(client.exceptions.ClientError, match="size has exceeded"):
            client.put_item(TableName="receipts", Item=item)
        assert post(store, keyed("k"))["headers"]["Idempotent-Body-Omitted"] == "too-large"
