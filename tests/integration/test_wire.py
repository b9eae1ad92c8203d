"""What every operation asks of AWS, counted at the wire as `make bench` counts it."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from bench.comparison import count_contest
from bench.contenders import Contest, bench_authorizer
from bench.counts import Counted, count_operations
from bench.requests import OPERATIONS, body_of
from bench.units import Consumed, item_bytes

if TYPE_CHECKING:
    from tests.integration.at_the_wire import AtTheWire

pytestmark = pytest.mark.platform

KIB = 1024


def asked(*requests: str, write: float, read: float = 0) -> Counted:
    return Counted(requests, Consumed(read, write))


PUT, UPDATE, CONFIG, SECRET = "PutItem", "UpdateItem", "GetItem", "GetParameter"

# README, "Measured": a change here is a change there.
OF_ONE_CALL = {
    ("leads", "fresh"): asked(PUT, write=2),
    ("leads", "duplicate"): asked(PUT, write=2),
    ("orders", "fresh"): asked(PUT, write=1),
    ("orders", "duplicate"): asked(PUT, write=1),
    ("payments", "first"): asked(PUT, SECRET, UPDATE, write=3),
    ("payments", "fresh"): asked(PUT, UPDATE, write=3),
    ("payments", "duplicate"): asked(PUT, write=2),
    ("payments with checkpoint", "first"): asked(PUT, SECRET, UPDATE, UPDATE, write=4),
    ("payments with checkpoint", "fresh"): asked(PUT, UPDATE, UPDATE, write=4),
    ("payments with checkpoint", "duplicate"): asked(PUT, write=2),
    ("appointments", "fresh"): asked(PUT, PUT, UPDATE, write=4),
    ("appointments", "duplicate"): asked(PUT, write=2),
    ("webhooks", "first"): asked(CONFIG, SECRET, PUT, read=0.5, write=2),
    ("webhooks", "fresh"): asked(PUT, write=2),
    ("webhooks", "duplicate"): asked(PUT, write=2),
}
OF_CONTENDERS = {
    "leads": {
        ("Onceward", "fresh"): asked(PUT, write=2),
        ("Onceward", "duplicate"): asked(PUT, write=2),
        ("Powertools", "fresh"): asked(PUT, PUT, UPDATE, write=3),
        ("Powertools", "duplicate"): asked(PUT, write=1),
    },
    "payments": {
        ("Onceward", "fresh"): asked(PUT, UPDATE, write=3),
        ("Onceward", "duplicate"): asked(PUT, write=2),
        ("Powertools", "fresh"): asked(PUT, UPDATE, write=2),
        ("Powertools", "duplicate"): asked(PUT, write=1),
    },
}


def test_one_call_of_each_operation_asks_what_the_readme_says(at_the_wire: AtTheWire) -> None:
    assert count_operations(at_the_wire.meter, at_the_wire.clients) == OF_ONE_CALL


@pytest.mark.parametrize("operation", OF_CONTENDERS)
def test_onceward_and_the_peer_ask_what_the_readme_says(at_the_wire: AtTheWire, operation: str) -> None:
    contest = Contest(operation, at_the_wire.clients)
    assert count_contest(contest, at_the_wire.meter) == OF_CONTENDERS[operation]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_however_often_a_duplicate_comes_it_is_one_put_and_the_first_answer(
    at_the_wire: AtTheWire, operation: str
) -> None:
    operations = at_the_wire.operations()
    first = operations.post(operation, "k")
    for _ in range(3):
        again, counted = at_the_wire.meter.count(partial(operations.post, operation, "k"))
        assert counted.requests == (PUT,)
        # A sender of webhooks is told in the body that it has sent this before.
        duplicate = '{"accepted":true,"duplicate":true}' if operation == "webhooks" else first["body"]
        assert again["body"] == duplicate


def test_a_webhook_with_a_known_id_is_a_duplicate_whatever_else_it_says(at_the_wire: AtTheWire) -> None:
    operations = at_the_wire.operations()
    assert operations.post("webhooks", "k", {"id": "first"})["statusCode"] == 202
    answer, counted = at_the_wire.meter.count(
        lambda: operations.post("webhooks", "k", {"id": "first", "n": 2})
    )
    assert (answer["statusCode"], counted.requests) == (200, (PUT,))


def test_a_receipt_for_a_lead_of_600_bytes_stays_under_2_kb(at_the_wire: AtTheWire) -> None:
    assert len(json.dumps(body_of("leads", "k"))) == 600
    operations = at_the_wire.operations()
    operations.post("leads", "k")
    size = item_bytes(at_the_wire.receipt(operations))
    print(f"a receipt for a 600-byte lead: {size} bytes")
    assert KIB < size < 2 * KIB


def test_the_authorizer_reads_one_item_a_key_and_writes_nothing(at_the_wire: AtTheWire) -> None:
    answer, counted = at_the_wire.meter.count(bench_authorizer(at_the_wire.clients.dynamodb))
    assert answer["policyDocument"]["Statement"][0]["Effect"] == "Allow"
    assert counted == asked(CONFIG, read=1, write=0)
