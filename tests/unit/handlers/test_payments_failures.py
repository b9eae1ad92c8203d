"""Payments that fail: 502 only where it is true of every attempt, and the provider's share of the time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.handlers.payment_world import LEASE_MS, Fault, World, created, problem

UNKNOWN = (504, "effect-unknown")


@pytest.mark.parametrize("kind", ["refused", "lost"])
def test_a_failure_whose_release_has_no_answer_is_504(kind: str) -> None:
    world = World()
    assert problem(world.pay(Fault("charge", "refused"), Fault("release", kind))) == UNKNOWN


@pytest.mark.parametrize("first", ["lost", "kill-after", "kill-before"])
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ((400, {}), UNKNOWN),
        ((401, {}), UNKNOWN),
        ((429, {}), UNKNOWN),
        (None, UNKNOWN),
        # Said of the key, whoever sent it.
        ((503, {"charged": False}), (502, "effect-failed")),
    ],
)
def test_a_failure_of_one_that_resumes_says_nothing_of_its_predecessor(
    first: str, answers: tuple[int, Any] | None, expected: tuple[int, str]
) -> None:
    world = World()
    world.pay(Fault("charge", first))
    world.now += LEASE_MS
    world.provider_answers = answers
    assert problem(world.pay(*[Fault("charge", "refused")] if answers is None else [])) == expected
    # And it is released: a retry runs at once.
    world.provider_answers = None
    body = created(world.pay())
    assert [charge["id"] for charge in world.charges()] == [body["chargeId"]]


def later(world: World, ms: int) -> None:
    world.now += ms


def test_one_that_resumes_without_time_left_says_nothing_of_its_predecessor() -> None:
    world = World()
    world.pay(Fault("charge", "kill-after"))
    world.now += LEASE_MS
    assert problem(world.pay(Fault("take_over", "after", lambda: later(world, 20_000)))) == UNKNOWN
    assert len(world.sent) == 1


@pytest.mark.parametrize(
    ("checkpoint", "took_ms", "timeout"),
    [
        # What is left of 28 s, without the 7.5 s that each write may take; 10 s at most, 1 s at least.
        (False, 10_500, 10.0),
        (False, 12_000, 8.5),
        (False, 19_500, 1.0),
        (True, 3_000, 10.0),
        (True, 12_000, 1.0),
        (False, 19_501, None),
        (True, 12_001, None),
        (False, 27_000, None),
    ],
)
def test_the_provider_gets_the_time_that_the_writes_after_it_do_not_need(
    checkpoint: bool, took_ms: int, timeout: float | None
) -> None:
    world = World(checkpoint=checkpoint)
    answer = world.pay(Fault("put", "after", lambda: later(world, took_ms)))
    assert world.timeouts == ([] if timeout is None else [timeout])
    if timeout is None:
        # Fresh, so that nothing can have happened.
        assert problem(answer) == (502, "effect-failed")
    else:
        created(answer)
