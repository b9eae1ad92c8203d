"""Receipts that an earlier release wrote stay readable, and their replays come as they came then.

`receipts/` has one item for each release that changed what is stored, as that release's own code wrote it:
never edited, only added to.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.receipt_item import from_item
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.domain.receipt import SCHEMA, Status
from tests.builders import LEAD, NOW_MS, claim
from tests.contract.conftest import make_table
from tests.unit.handlers.ingest_calls import keyed, post

FOLDER = Path(__file__).parent / "receipts"


@pytest.fixture(params=sorted(path.stem for path in FOLDER.glob("*.json")))
def earlier(request: pytest.FixtureRequest) -> dict[str, Any]:
    """An item of an earlier release, and the answer that it gave then."""
    kept: dict[str, Any] = json.loads((FOLDER / f"{request.param}.json").read_text(encoding="utf-8"))
    return kept


def test_it_is_read_whole(earlier: dict[str, Any]) -> None:
    receipt = from_item(earlier["item"])
    assert (receipt.status, receipt.tenant_id, receipt.operation) == (Status.COMPLETED, "acme", "leads")
    assert (receipt.checkpoint, receipt.fields, receipt.body_hash) == (None, {}, None)
    assert receipt.outbox is not None
    assert int(earlier["item"]["schema"]["N"]) <= SCHEMA


def test_it_is_replayed_and_its_key_defended(earlier: dict[str, Any]) -> None:
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        table = make_table(client, "receipts")
        client.put_item(TableName=table, Item=earlier["item"])
        store = DynamoDbReceipts(table, client)
        again = post(store, keyed("first-release"))
        assert (again["statusCode"], again["body"]) == (201, earlier["answer"]["body"])
        assert again["headers"].items() >= earlier["answer"]["headers"].items()
        assert again["headers"]["Idempotent-Replayed"] == "true"
        assert post(store, keyed("first-release", LEAD | {"a": 1}))["statusCode"] == 422
        late = post(store, keyed("first-release", arrival_ms=NOW_MS + 86_400_000))
        assert "Idempotent-Replayed" not in late["headers"]


def test_its_claim_could_be_taken_over(earlier: dict[str, Any]) -> None:
    unfinished = {
        name: value
        for name, value in earlier["item"].items()
        if name not in {"response", "outbox", "outboxId"}
    } | {"status": {"S": "IN_PROGRESS"}}
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        table = make_table(client, "receipts")
        client.put_item(TableName=table, Item=unfinished)
        lapsed = from_item(unfinished)
        mine = claim(key=lapsed.key, fingerprint=lapsed.fingerprint)
        DynamoDbReceipts(table, client).take_over(lapsed, mine, NOW_MS + 1, NOW_MS + 2)
        (item,) = client.scan(TableName=table)["Items"]
        assert replace(from_item(item), owner=lapsed.owner).generation == lapsed.generation
        assert item["owner"] == {"S": "owner-new"}
