"""Payments whose window is longer than their provider keeps keys: looked up then, and never sent again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import NOW_MS
from tests.unit.handlers.payment_world import DAY_MS, LEASE_MS, Fault, World, created, problem

UNKNOWN = (504, "effect-unknown")


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
    world.now += 3_600_000
    first, again = world.pay(), world.pay()
    assert problem(first) == problem(again) == (502, "not-charged")
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
        assert problem(world.pay()) == (503, "store-unavailable")
        assert '"LookupImpossible":[1.0]' in capsys.readouterr().out
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
