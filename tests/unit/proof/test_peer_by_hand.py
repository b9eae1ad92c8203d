"""Each schedule that breaks a promise of the peer, step by step, on the real Powertools over moto.

No scheduler, no model of the table: what fails here is no artefact of the search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from handlers.domain.outbound import AnswerLost, NotSent
from proof.provider import HONOURS_MS
from proof.requests import OTHER_PAYMENT, REMAINING_MS
from tests.unit.proof.peer_world import Killed, World, dynamodb, lose_the_answer, said

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def world() -> Iterator[World]:
    with mock_aws():
        yield World()


def _killed() -> None:
    raise Killed


def _unreachable() -> None:
    raise NotSent("no connection")


def _unanswered() -> None:
    raise AnswerLost("no answer")


def test_without_a_fault_a_duplicate_gets_the_first_answer_and_another_body_is_refused(world: World) -> None:
    first = world.attempt("A")
    assert first["statusCode"] == 201
    assert world.attempt("B") == first
    assert world.attempt("C", body=OTHER_PAYMENT)["statusCode"] == 422
    assert len(world.charges) == 1


def test_own_write_a_claim_that_the_sdk_sent_again_refuses_itself(world: World) -> None:
    client = dynamodb()
    lose_the_answer(client, "PutItem", lambda: None)
    assert world.attempt("A", client=client)["statusCode"] == 409
    assert world.charges == ()
    world.now += REMAINING_MS
    assert world.attempt("B")["statusCode"] == 409, "nobody runs, and nobody may"
    world.now += 1
    assert world.attempt("C")["statusCode"] == 201


def test_mismatch_another_payment_is_asked_for_under_the_key_of_one_that_was_made(world: World) -> None:
    with pytest.raises(Killed):
        world.attempt("A", after_charge=_killed)
    world.now += REMAINING_MS + 1
    other = world.attempt("B", body=OTHER_PAYMENT)
    assert other["statusCode"] == 201
    assert [charge.amount for charge in world.charges] == [1999]
    assert said(other)["chargeId"] == world.charges[0].id, "B was told that its 2999 were paid, by A's 1999"


def test_remembered_the_record_of_a_charge_is_deleted_when_the_providers_answer_is_lost(world: World) -> None:
    assert world.attempt("A", after_charge=_unanswered)["statusCode"] == 504
    assert len(world.charges) == 1
    assert world.item() is None
    assert world.attempt("B", body=OTHER_PAYMENT)["statusCode"] == 201, "nor is another request noticed now"


def test_fenced_an_old_delete_takes_a_finished_answer_away_and_a_retry_is_told_another(world: World) -> None:
    client, told = dynamodb(), list[dict[str, Any]]()
    lose_the_answer(client, "DeleteItem", lambda: told.append(world.attempt("B")))
    assert world.attempt("A", client=client, before_charge=_unreachable)["statusCode"] == 502
    assert told[0]["statusCode"] == 201
    assert world.item() is None, "B's answer is gone"
    retried = world.attempt("Y")
    assert (retried["statusCode"], said(retried)["id"], said(told[0])["id"]) == (201, "id-of-Y", "id-of-B")


def test_one_claim_an_old_delete_lets_a_third_attempt_run_beside_the_second(world: World) -> None:
    client, inside = dynamodb(), list[dict[str, Any]]()
    deletes = list[dict[str, Any]]()
    client.meta.events.register(
        "provide-client-params.dynamodb.DeleteItem", lambda params, **_: deletes.append(params)
    )
    assert world.attempt("A", client=client, before_charge=_unreachable)["statusCode"] == 502

    def meanwhile() -> None:
        dynamodb().delete_item(**deletes[0])  # A's, sent again
        inside.append(world.attempt("C"))

    second = world.attempt("B", before_charge=meanwhile)
    assert [second["statusCode"], inside[0]["statusCode"]] == [201, 201], "each thought that it was the one"
    assert said(second)["id"] != said(inside[0])["id"]


def test_one_answer_a_late_worker_overwrites_what_its_successor_was_told(world: World) -> None:
    told = list[dict[str, Any]]()

    def meanwhile() -> None:
        world.now += REMAINING_MS + 1
        told.append(world.attempt("B"))

    late = world.attempt("A", after_charge=meanwhile)
    assert [late["statusCode"], told[0]["statusCode"]] == [201, 201]
    assert late != told[0]
    assert world.attempt("Y") == late, "whoever was told B's answer finds A's"


def test_one_effect_the_key_outlives_what_the_provider_remembers(world: World) -> None:
    with pytest.raises(Killed):
        world.attempt("A", after_charge=_killed)
    world.now += HONOURS_MS - 1
    with pytest.raises(Killed):
        world.attempt("B", before_charge=_killed)
    world.now += REMAINING_MS + 1
    item = world.item()
    assert item is not None
    assert int(item["expiration"]["N"]) * 1000 > world.now, "the window is open"
    assert world.attempt("Y")["statusCode"] == 201
    assert len(world.charges) == 2
