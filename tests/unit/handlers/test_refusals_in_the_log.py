"""A duplicate that was refused can be found by the record of the request that holds its key."""

from __future__ import annotations

import json

from handlers.domain import ids
from tests.builders import LEAD, NOW_MS
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import LOG, keyed, post
from tests.unit.handlers.payment_world import World, created, problem


def test_a_mismatch_names_the_record_of_the_first_request() -> None:
    store = InMemoryReceipts()
    first = json.loads(post(store, keyed("k", LEAD))["body"])
    assert post(store, keyed("k", LEAD | {"name": "Another"}))["statusCode"] == 422

    logged = [json.loads(line) for line in LOG.getvalue().splitlines()]

    assert [(line["outcome"], line["record_id"]) for line in logged] == [
        ("accepted", first["id"]),
        ("mismatch", first["id"]),
    ]


def test_a_payment_that_failed_is_found_by_the_record_of_the_one_that_succeeded() -> None:
    world = World()
    world.provider_answers = (500, {"charged": False})
    assert problem(world.pay()) == (502, "effect-failed")
    world.provider_answers = None
    paid = created(world.pay())
    assert said_by(world) == [("effect_failed", paid["id"]), ("accepted", paid["id"])]


def test_a_declined_payment_and_its_duplicates_are_found_by_one_id() -> None:
    world = World()
    for _ in range(2):
        assert problem(world.pay(paymentMethod="pm_declined"))[0] == 402
    (first, record_id), (again, same) = said_by(world)
    assert (first, again) == ("final_refusal", "replayed")
    assert record_id == same
    assert ids.created_at_ms(record_id) == NOW_MS


def said_by(world: World) -> list[tuple[str, str]]:
    lines = [json.loads(line) for line in world.log.getvalue().splitlines()]
    return [(line["outcome"], line["record_id"]) for line in lines]
