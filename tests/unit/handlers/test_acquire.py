"""What a claim holds while it runs and when it is done: how long it stands, what a successor gets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from handlers.domain.receipt import MIN_KEPT_SECONDS
from tests.builders import NOW_MS
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.payment_world import DAY_MS, LEASE_MS, Fault, World, created, receipt_in

if TYPE_CHECKING:
    from collections.abc import Callable

CHARGE = '{"id":"ch_saved","status":"succeeded"}'


def storing(world: World) -> InMemoryReceipts:
    assert isinstance(world.store, InMemoryReceipts)
    return world.store


def test_a_takeover_resumes_from_what_stands_there_then_and_not_from_what_it_saw_before() -> None:
    world = World(checkpoint=True)
    world.pay(Fault("charge", "kill-before"))
    world.now += LEASE_MS

    def save() -> None:
        # Its last owner, slow and not dead, between our refused claim and our takeover.
        storing(world).checkpoint(receipt_in(world), CHARGE)

    answer = world.pay(Fault("take_over", "before", save))
    assert created(answer)["chargeId"] == "ch_saved"
    assert len(world.sent) == 1


def seen_at(world: World, point: str, *faults: Fault) -> list[int]:
    """`expires_at` as it stands when a payment has come to `point`."""
    seen: list[int] = []
    world.pay(*faults, Fault(point, "before", lambda: seen.append(receipt_in(world).expires_at)))
    return seen


@pytest.mark.parametrize(
    ("window_s", "running_ms", "done_ms"),
    [(10, LEASE_MS, 10_000), (33, LEASE_MS, 33_000), (60, 60_000, 60_000)],
)
def test_while_it_runs_a_claim_s_window_is_its_lease_at_least_and_then_what_was_promised(
    window_s: int, running_ms: int, done_ms: int
) -> None:
    world = World()
    world.window_seconds = window_s
    assert seen_at(world, "charge") == [NOW_MS + running_ms]
    assert receipt_in(world).expires_at == NOW_MS + done_ms


@pytest.mark.parametrize(
    ("later_ms", "expected_ms"),
    [
        # Its window is open for longer than the lease: as it was promised to the first.
        (LEASE_MS, DAY_MS),
        # Nearly over, and over: the duplicates of the retry must meet its answer.
        (DAY_MS - 1, DAY_MS - 1 + LEASE_MS),
        (6 * DAY_MS, 6 * DAY_MS + LEASE_MS),
    ],
)
def test_a_claim_that_is_taken_over_stands_until_the_end_of_its_new_lease_at_least(
    later_ms: int, expected_ms: int
) -> None:
    world = World(honoursSeconds=30 * 86_400)
    world.provider.forgotten_after_seconds = 30 * 86_400
    world.pay(Fault("charge", "kill-before"))
    world.now += later_ms
    assert seen_at(world, "charge") == [NOW_MS + expected_ms]
    assert receipt_in(world).expires_at == NOW_MS + expected_ms


@pytest.mark.parametrize(
    "finish", [lambda world: world.pay(), lambda world: world.pay(Fault("charge", "kill-before"))]
)
def test_what_is_finished_or_taken_over_late_is_kept_as_long_as_anything_else(
    finish: Callable[[World], object],
) -> None:
    world = World()
    world.pay(Fault("charge", "kill-after"))
    world.now += 7 * DAY_MS
    finish(world)
    # Or TTL would sweep a day later, with an outbox that is not dispatched.
    assert receipt_in(world).purge_at >= world.now // 1000 + MIN_KEPT_SECONDS


def test_a_fresh_claim_is_kept_from_its_arrival_on() -> None:
    world = World()
    world.pay(Fault("charge", "kill-before"))
    assert receipt_in(world).purge_at == NOW_MS // 1000 + MIN_KEPT_SECONDS
    assert receipt_in(world) == replace(receipt_in(world), created_at=NOW_MS, lease_until=NOW_MS + LEASE_MS)
