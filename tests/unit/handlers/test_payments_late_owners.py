"""Payments whose lease was shortened, so that a successor came while they worked: they change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.payment_world import LEASE_MS, Fault, World, created, problem, receipt_in

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt

UNKNOWN = (504, "effect-unknown")


def overtaken(world: World, point: str, *faults: Fault, when: str = "before") -> Any:
    """The answer of an owner that is overtaken at `point`, and what stood there after the successor."""
    stood: list[Receipt] = []

    def successor() -> None:
        process = world.process
        world.now += LEASE_MS
        world.pay(*faults)
        world.process = process
        stood.append(receipt_in(world))

    answer = world.pay(Fault(point, when, successor))
    assert receipt_in(world) == stood[0]
    return answer


@pytest.mark.parametrize(
    ("point", "when"),
    [("charge", "before"), ("charge", "after"), ("checkpoint", "before"), ("complete", "before")],
)
def test_it_changes_nothing_and_answers_what_its_successor_stored(
    point: str, when: str, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(checkpoint=True)
    answer = overtaken(world, point, when=when)
    assert created(answer)["chargeId"] == world.charges()[0]["id"]
    assert answer["headers"]["Idempotent-Replayed"] == "true"
    assert len(world.charges()) == 1
    assert capsys.readouterr().out.count('"LeaseLost":[1.0]') == 1
    later = world.pay()
    assert later is not None
    assert later["body"] == answer["body"]


@pytest.mark.parametrize("checkpoint", [False, True])
def test_while_its_successor_runs_it_is_409(checkpoint: bool) -> None:
    world = World(checkpoint=checkpoint)
    answer = overtaken(world, "charge", Fault("charge", "kill-before"), when="after")
    assert problem(answer) == (409, "request-in-progress")
    world.now += LEASE_MS
    assert [charge["id"] for charge in world.charges()] == [created(world.pay())["chargeId"]]


def test_its_release_does_not_free_the_claim_for_a_third(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    answer = overtaken(world, "charge", Fault("charge", "kill-before"), when="lost")
    assert problem(answer) == UNKNOWN
    assert '"LeaseLost":[1.0]' in capsys.readouterr().out
    assert problem(world.pay()) == (409, "request-in-progress")


def test_when_its_claim_was_evicted_it_is_503_and_stores_nothing() -> None:
    world = World()
    assert isinstance(world.store, InMemoryReceipts)
    items = world.store.items
    assert problem(world.pay(Fault("complete", "before", items.clear))) == (503, "store-unavailable")
    assert items == {}
