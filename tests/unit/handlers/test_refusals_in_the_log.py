"""A duplicate that was refused can be found by the record of the request that holds its key."""

from __future__ import annotations

import json

from tests.builders import LEAD
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import LOG, keyed, post


def test_a_mismatch_names_the_record_of_the_first_request() -> None:
    store = InMemoryReceipts()
    first = json.loads(post(store, keyed("k", LEAD))["body"])
    assert post(store, keyed("k", LEAD | {"name": "Another"}))["statusCode"] == 422

    logged = [json.loads(line) for line in LOG.getvalue().splitlines()]

    assert [(line["outcome"], line["record_id"]) for line in logged] == [
        ("accepted", first["id"]),
        ("mismatch", first["id"]),
    ]
