"""`read`: records by id, and what every answer has in common."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from handlers.domain.errors import CorruptItem
from tests.builders import NOW_MS, authorizer_context
from tests.unit.handlers.read_world import NEW_ID, OLD_ID, ORIGIN, World, lead, problem, record_id


def test_a_record_is_answered_byte_for_byte() -> None:
    document = '{"id":"x","lead":{"z":1e400,"a":1.0,"n":123456789012345678901234567890}}'
    answer = World({("acme", "leads", OLD_ID): document}).get(lead(OLD_ID))
    assert answer == {
        "statusCode": 200,
        "headers": {
            "Content-Type": "application/json",
            "X-Correlation-Id": "gateway-request-id",
            "Vary": "Origin",
        },
        "body": document,
    }


def test_another_tenants_record_is_answered_exactly_as_one_that_nobody_has() -> None:
    theirs = World({("bluebird", "leads", OLD_ID): "{}"})
    nobodys = World()
    assert theirs.get(lead(OLD_ID)) == nobodys.get(lead(OLD_ID))
    assert problem(theirs.get(lead(OLD_ID)))["status"] == 404


def test_another_operations_record_is_not_a_lead() -> None:
    assert World({("acme", "payments", OLD_ID): "{}"}).get(lead(OLD_ID))["statusCode"] == 404


@pytest.mark.parametrize(
    "malformed",
    ["", "x", OLD_ID.lower(), OLD_ID + "0", OLD_ID[:-1], "8" + OLD_ID[1:], "../receipts/k", "\x00"],
)
def test_an_id_that_is_none_is_404_without_a_look(malformed: str) -> None:
    world = World()
    answer = world.get(lead(quote(malformed, safe="")))
    assert answer["statusCode"] == 404
    assert "Retry-After" not in answer["headers"]
    assert world.looks == 0


def test_an_old_id_is_looked_for_once() -> None:
    world = World()
    answer = world.get(lead(OLD_ID))
    assert answer["statusCode"] == 404
    assert "Retry-After" not in answer["headers"]
    assert (world.looks, world.now) == (1, NOW_MS)


@pytest.mark.parametrize("delay_ms", [1, 100, 700, 1_900])
def test_a_record_on_its_way_is_waited_for(delay_ms: int) -> None:
    world = World({("acme", "leads", NEW_ID): "{}"}, appears_at={NEW_ID: NOW_MS + delay_ms})
    assert world.get(lead(NEW_ID))["statusCode"] == 200
    assert NOW_MS + delay_ms <= world.now <= NOW_MS + 2_000


def test_after_two_seconds_a_young_id_is_404_for_now() -> None:
    world = World({("acme", "leads", NEW_ID): "{}"}, appears_at={NEW_ID: NOW_MS + 60_000})
    answer = world.get(lead(NEW_ID))
    assert answer["statusCode"] == 404
    assert answer["headers"]["Retry-After"] == "1"
    assert NOW_MS + 1_500 <= world.now <= NOW_MS + 2_000
    assert world.looks <= 10


@pytest.mark.parametrize(
    ("age_ms", "waits"), [(9_999, True), (10_000, False), (0, True), (-5_000, True), (-5_001, False)]
)
def test_only_an_id_younger_than_ten_seconds_is_waited_for(age_ms: int, waits: bool) -> None:
    world = World()
    answer = world.get(lead(record_id(NOW_MS - age_ms)))
    assert (world.now > NOW_MS, "Retry-After" in answer["headers"]) == (waits, waits)


@pytest.mark.parametrize("error", [CorruptItem("secret detail"), ValueError("secret detail")])
def test_what_nobody_foresaw_is_a_500_that_tells_nothing(error: Exception) -> None:
    world = World(error=error)
    answer = world.get(lead(OLD_ID))
    assert problem(answer)["status"] == 500
    assert "secret" not in answer["body"]
    [line] = world.log.getvalue().splitlines()
    assert "secret" not in line or isinstance(error, CorruptItem)


def test_a_context_that_no_authorizer_of_ours_made_is_a_500() -> None:
    assert World().get(lead(OLD_ID, authorizer=authorizer_context(tenantId="")))["statusCode"] == 500


def test_the_callers_correlation_id_comes_back_on_answers_and_problems() -> None:
    world = World({("acme", "leads", OLD_ID): "{}"})
    for record in (OLD_ID, "x"):
        answer = world.get(lead(record, headers={"X-Correlation-Id": "trace-7"}))
        assert answer["headers"]["X-Correlation-Id"] == "trace-7"


def test_a_page_of_a_known_origin_may_see_the_answer() -> None:
    answer = World({("acme", "leads", OLD_ID): "{}"}).get(lead(OLD_ID, headers={"Origin": ORIGIN}))
    assert answer["headers"]["Access-Control-Allow-Origin"] == ORIGIN
