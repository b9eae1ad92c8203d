"""Payments whose window is longer than their provider keeps keys: looked up then, and never sent again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from handlers.domain.outbound import AnswerLost
from ops.local.stand_in.answer import Request
from tests.builders import NOW_MS
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.payment_world import (
    ACCOUNT,
    DAY_MS,
    LEASE_MS,
    PAYMENT,
    Fault,
    World,
    created,
    problem,
    receipt_in,
)

BODY = json.dumps(PAYMENT).encode()
UNKNOWN = (504, "effect-unknown")
NOT_CHARGED = (502, "not-charged")
# What the provider may still be working on by then, it has done: its memory, and ten minutes.
SETTLED_MS = 3_600_000 + 600_000


@pytest.fixture
def world() -> World:
    world = World(honoursSeconds=3600)
    world.window_seconds = 7 * 86_400
    world.provider.forgotten_after_seconds = 3600
    return world


@pytest.mark.parametrize("later_ms", [3_600_000, DAY_MS, 6 * DAY_MS, 30 * DAY_MS])
def test_a_charge_that_was_made_is_looked_up_and_not_sent_again(world: World, later_ms: int) -> None:
    assert world.pay(Fault("charge", "kill-after")) is None
    world.now += later_ms
    answer = world.pay()
    assert [charge["id"] for charge in world.charges()] == [created(answer)["chargeId"]]
    (_, _, sent), (method, target, _) = world.sent
    assert (method, target) == ("GET", f"/v1/charges?idempotencyKey={sent['idempotency-key']}")
    # Though its window may be over, the duplicates of this retry meet its answer.
    again = world.pay()
    assert again is not None
    assert again["body"] == (answer or {})["body"]


def test_a_charge_that_was_never_made_is_a_final_no_until_the_window_is_over(world: World) -> None:
    world.pay(Fault("charge", "kill-before"))
    world.now += SETTLED_MS
    first, again = world.pay(), world.pay()
    assert problem(first) == problem(again) == NOT_CHARGED
    assert again is not None
    assert again["headers"]["Idempotent-Replayed"] == "true"
    assert world.charges() == []
    world.now += 7 * DAY_MS
    created(world.pay())


@pytest.mark.parametrize(("before_ms", "calls"), [(1, ["look_up"]), (0, ["charge"])])
def test_the_whole_attempt_has_to_lie_before_the_end_of_its_memory(
    world: World, before_ms: int, calls: list[str]
) -> None:
    world.pay(Fault("charge", "kill-after"))
    # Lease and skew before the end.
    world.now = NOW_MS + 3_600_000 - LEASE_MS - 5_000 + before_ms
    created(world.pay())
    assert world.process.calls[2:-1] == calls


def test_without_a_look_up_it_is_503_and_counted_for_people(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.options["lookup"] = False
    world.pay(Fault("charge", "kill-after"))
    world.now += DAY_MS
    capsys.readouterr()
    for _ in range(2):
        answer = world.pay()
        assert problem(answer) == (503, "lookup-impossible")
        assert answer is not None
        assert answer["headers"]["Retry-After"] == "1"
        said = capsys.readouterr().out
        assert '"LookupImpossible":[1.0]' in said
        # One tenant's provider: no failure of ours, by which releases are rolled back.
        assert '"Failed":[0.0]' in said
    assert [method for method, _, _ in world.sent] == ["POST"]


@pytest.mark.parametrize("answers", [(500, {}), (404, {}), (200, {}), (200, {"charges": 7}), (200, b"x")])
def test_a_look_up_that_says_nothing_is_504(world: World, answers: tuple[int, Any]) -> None:
    world.pay(Fault("charge", "kill-after"))
    world.now += DAY_MS
    world.provider_answers = answers
    assert problem(world.pay()) == UNKNOWN
    world.provider_answers = None
    created(world.pay())


def test_a_checkpoint_needs_no_provider(world: World) -> None:
    world.options["checkpoint"] = True
    world.pay(Fault("complete", "kill-before"))
    world.now += DAY_MS
    world.provider_answers = (500, {})
    assert [charge["id"] for charge in world.charges()] == [created(world.pay())["chargeId"]]
    assert len(world.sent) == 1


@pytest.mark.parametrize(("before_ms", "expected"), [(1, UNKNOWN), (0, NOT_CHARGED)])
def test_none_is_final_only_when_no_earlier_request_can_be_under_way(
    world: World, before_ms: int, expected: tuple[int, str]
) -> None:
    world.pay(Fault("charge", "kill-before"))
    world.now = NOW_MS + SETTLED_MS - before_ms
    assert problem(world.pay()) == expected


def test_a_charge_that_the_provider_still_works_on_is_found_when_it_is_done(world: World) -> None:
    world.options["honoursSeconds"] = 60

    def lost() -> None:
        raise AnswerLost("pay.example: no answer in 10 s")

    world.charging = lost
    assert problem(world.pay()) == UNKNOWN
    world.now += 23_000
    assert problem(world.pay()) == UNKNOWN
    # The provider finishes the first one now.
    world.charging = lambda: None
    request = Request(
        "POST", "pay.example", "/v1/charges", {"idempotency-key": world.sent[0][2]["idempotency-key"]}, BODY
    )
    world.provider.charge(ACCOUNT, request, lambda: None)
    assert created(world.pay())["chargeId"] == world.charges()[0]["id"]
    assert len(world.charges()) == 1


@pytest.mark.parametrize(
    "changes",
    [{"providerUrl": "https://other.example/v1"}, {"honoursSeconds": 7200}],
    ids=["another provider", "another memory"],
)
@pytest.mark.parametrize("later_ms", [LEASE_MS, DAY_MS], ids=["remembered", "forgotten"])
def test_settings_that_changed_between_two_attempts_are_503_and_nothing_is_sent(
    world: World, changes: dict[str, Any], later_ms: int, capsys: pytest.CaptureFixture[str]
) -> None:
    world.pay(Fault("charge", "kill-after"))
    before, world.options = dict(world.options), {**world.options, **changes}
    world.now += later_ms
    assert problem(world.pay()) == (503, "lookup-impossible")
    assert '"LookupImpossible":[1.0]' in capsys.readouterr().out
    assert len(world.sent) == 1
    # Put back, it goes on.
    world.options = before
    assert [charge["id"] for charge in world.charges()] == [created(world.pay())["chargeId"]]


def test_settings_that_do_not_say_where_the_key_is_known_may_change(world: World) -> None:
    world.pay(Fault("charge", "kill-after"))
    world.now += LEASE_MS
    world.options |= {"checkpoint": True, "providerUrl": f"https://{ACCOUNT}/"}
    assert [charge["id"] for charge in world.charges()] == [created(world.pay())["chargeId"]]


def test_a_claim_of_an_earlier_release_has_pinned_nothing_and_is_resumed_as_before(world: World) -> None:
    world.pay(Fault("charge", "kill-after"))
    assert isinstance(world.store, InMemoryReceipts)
    world.store.items["acme", "k"] = replace(receipt_in(world), pinned=None)
    world.now += LEASE_MS
    world.options["honoursSeconds"] = 7200
    assert [charge["id"] for charge in world.charges()] == [created(world.pay())["chargeId"]]


def test_a_saved_charge_needs_no_settings(world: World) -> None:
    world.options["checkpoint"] = True
    world.pay(Fault("complete", "kill-before"))
    world.now += LEASE_MS
    world.options["providerUrl"] = "https://other.example/v1"
    assert [charge["id"] for charge in world.charges()] == [created(world.pay())["chargeId"]]
