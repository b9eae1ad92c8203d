"""One suite over records with work (in memory, moto, local AWS): what passes may stand in for the table."""

from __future__ import annotations

from dataclasses import replace

import boto3
import pytest
from botocore.stub import Stubber

from handlers.adapters.work_store import DynamoDbWork
from handlers.domain.errors import Refused, Unavailable
from handlers.domain.work_item import AlreadyDone, Claimed, NoSuchWork, TwinAtWork, decide
from tests.builders import NOW_MS
from tests.contract.work_world import LEASE_MS, MESSAGE, ORDER, State, World, claim, item


@pytest.fixture
def world(work_world: World) -> World:
    return work_world


def test_the_first_claim_brings_the_record_whole(world: World) -> None:
    world.records.write(ORDER)
    assert world.work.claim(claim("one", now_ms=NOW_MS + 3)) == Claimed(item())
    # Touched, so that no reconciler takes its message for lost meanwhile.
    assert world.state() == State("PROCESSING", NOW_MS + 3, "one", NOW_MS + LEASE_MS, 0)


def test_a_twin_is_told_until_when_the_first_may_be_at_it(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    assert world.work.claim(claim("two")) == TwinAtWork(NOW_MS + LEASE_MS)


def test_a_claim_that_the_sdk_sends_twice_recognises_itself(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    assert world.work.claim(claim("one")) == Claimed(item())


@pytest.mark.parametrize(("after_ms", "free"), [(LEASE_MS, False), (LEASE_MS + 1, True)])
def test_a_lapsed_claim_is_taken_over(world: World, after_ms: int, free: bool) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    later = claim("two", now_ms=NOW_MS + after_ms, lease_until=NOW_MS + after_ms + LEASE_MS)
    outcome = world.work.claim(later)
    taken = Claimed(item(owner="two", attempts=2, lease_until=later.lease_until))
    assert outcome == (taken if free else TwinAtWork(NOW_MS + LEASE_MS))


def test_what_is_done_is_done_and_no_longer_pending(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    assert world.work.finish(claim("one"), NOW_MS + 5)
    assert world.state() == State("COMPLETED", NOW_MS + 5, None, 0, 0)
    assert world.work.claim(claim("two")) == AlreadyDone()
    assert world.pending_work() == []


def test_a_finish_that_the_sdk_sends_twice_is_a_finish(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    assert [world.work.finish(claim("one"), NOW_MS + 5) for _ in range(2)] == [True, True]


def test_who_was_too_slow_marks_nothing_and_gives_nothing_back(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    later = NOW_MS + LEASE_MS + 1
    world.work.claim(claim("two", now_ms=later, lease_until=later + LEASE_MS))

    assert not world.work.finish(claim("one"), later)
    world.work.fail(claim("one"), later, final=True)

    assert world.work.claim(claim("three", now_ms=later)) == TwinAtWork(later + LEASE_MS)
    assert len(world.pending_work()) == 1


def test_what_was_given_back_can_be_claimed_at_once(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    for _ in range(2):  # sent twice, it is the same
        world.work.fail(claim("one"), NOW_MS + 5, final=False)
    assert world.state() == State("PROCESSING", NOW_MS + 5, "one", 0, 0)
    assert world.work.claim(claim("two")) == Claimed(item(owner="two", attempts=2))
    assert [work.since for work in world.pending_work()] == [NOW_MS]


def test_what_failed_for_good_is_not_pending_until_somebody_brings_it_back(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("one"))
    for _ in range(2):
        world.work.fail(claim("one"), NOW_MS + 5, final=True)
    assert world.state() == State("FAILED", NOW_MS + 5, "one", 0, 0)
    assert world.pending_work() == []

    redriven = claim("two", now_ms=NOW_MS + 7)
    assert world.work.claim(redriven) == Claimed(item(owner="two", attempts=2))
    assert [work.since for work in world.pending_work()] == [NOW_MS + 7]


def test_a_message_without_a_record_makes_none(world: World) -> None:
    assert world.work.claim(claim("one")) == NoSuchWork()
    assert not world.work.finish(claim("one"), NOW_MS)
    world.work.fail(claim("one"), NOW_MS, final=True)
    assert world.work.claim(claim("one")) == NoSuchWork()


def test_a_message_of_another_event_claims_nothing(world: World) -> None:
    world.records.write(ORDER)
    assert world.work.claim(claim("one", message=replace(MESSAGE, event_id="E2"))) == NoSuchWork()
    assert world.work.claim(claim("one", message=replace(MESSAGE, tenant_id="bluebird"))) == NoSuchWork()
    assert world.work.claim(claim("two")) == Claimed(item(owner="two"))


def test_what_is_done_is_done_whoever_owns_it() -> None:
    # An owner that was left on it must not make its own message do the work again.
    assert decide(item(status="COMPLETED"), claim("one")) == AlreadyDone()


@pytest.mark.parametrize(
    ("code", "expected"), [("ThrottlingException", Unavailable), ("AccessDenied", Refused)]
)
def test_a_table_that_does_not_answer_is_an_outage(code: str, expected: type[Exception]) -> None:
    client = boto3.client(
        "dynamodb", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    work = DynamoDbWork("records", client)
    with Stubber(client) as stubber:
        for call in (
            lambda: work.claim(claim("one")),
            lambda: work.finish(claim("one"), NOW_MS),
            lambda: work.fail(claim("one"), NOW_MS, final=False),
        ):
            stubber.add_client_error("update_item", service_error_code=code)
            with pytest.raises(expected, match=code):
                call()
