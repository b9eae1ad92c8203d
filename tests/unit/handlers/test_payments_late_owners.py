"""Payments whose lease was shortened, so that a successor came while they worked: they change nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.payment_world import LEASE_MS, Fault, World, created, problem, receipt_in

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt

UNKNOWN = (504, "effect-unknown")
IN_PROGRESS = (409, "request-in-progress")
ORPHANED = '"EffectOrphaned":[1.0]'


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
    assert problem(answer) == IN_PROGRESS
    assert answer["headers"]["Retry-After"] == "33"
    world.now += LEASE_MS
    assert [charge["id"] for charge in world.charges()] == [created(world.pay())["chargeId"]]


def test_its_release_does_not_free_the_claim_for_a_third(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    answer = overtaken(world, "charge", Fault("charge", "kill-before"), when="lost")
    assert problem(answer) == UNKNOWN
    assert '"LeaseLost":[1.0]' in capsys.readouterr().out
    assert problem(world.pay()) == IN_PROGRESS


def test_when_its_claim_was_evicted_it_is_503_and_stores_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    assert isinstance(world.store, InMemoryReceipts)
    items = world.store.items
    assert problem(world.pay(Fault("complete", "before", items.clear))) == (503, "store-unavailable")
    assert items == {}
    # Charged, and nothing tells of it.
    assert ORPHANED in capsys.readouterr().out


@pytest.mark.parametrize("answers", [(429, {}), (401, {}), (404, {}), (500, {"charged": False})])
def test_a_failure_of_one_whose_successor_has_charged_is_answered_with_that_charge(
    answers: tuple[int, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    world = World()

    def successor() -> None:
        process = world.process
        world.now += LEASE_MS
        created(world.pay())
        world.process = process
        world.provider_answers = answers

    answer = world.pay(Fault("charge", "before", successor))
    assert created(answer)["chargeId"] == world.charges()[0]["id"]
    assert (answer or {})["headers"]["Idempotent-Replayed"] == "true"
    said = capsys.readouterr().out
    assert (said.count('"LeaseLost":[1.0]'), ORPHANED in said) == (1, False)


def test_one_that_comes_late_with_a_charge_and_finds_a_final_no_is_counted_for_people(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = World(honoursSeconds=60)

    def successor() -> None:
        process = world.process
        world.now += 60_000 + 600_000
        assert problem(world.pay()) == (502, "not-charged")
        world.process = process

    answer = world.pay(Fault("charge", "before", successor))
    # What is stored is the truth for the caller; a person has to pay back.
    assert problem(answer) == (502, "not-charged")
    assert len(world.charges()) == 1
    assert ORPHANED in capsys.readouterr().out
    line = json.loads(world.log.getvalue().splitlines()[-1])
    assert (line["effect_orphaned"], line["lease_lost"]) == ("true", "true")


def test_a_charge_that_a_successor_answers_for_is_no_orphan(capsys: pytest.CaptureFixture[str]) -> None:
    overtaken(World(), "complete")
    overtaken(World(), "charge", Fault("charge", "kill-before"), when="after")
    assert ORPHANED not in capsys.readouterr().out


def test_one_whose_key_is_another_request_s_by_then_is_503_and_not_told_that_it_came_second(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = World()
    world.window_seconds = 60

    def other() -> None:
        process = world.process
        world.now += 61_000
        created(world.pay(amount=1))
        world.process = process

    assert problem(world.pay(Fault("complete", "before", other))) == (503, "store-unavailable")
    assert ORPHANED in capsys.readouterr().out


@pytest.mark.parametrize(
    ("later_ms", "left"), [(LEASE_MS, "1"), (LEASE_MS + 7, "1"), (LEASE_MS - 9_000, "9")]
)
def test_what_is_left_of_its_successor_s_lease_is_told_by_the_clock_as_it_is_then(
    later_ms: int, left: str
) -> None:
    world = World()

    def successor() -> None:
        process = world.process
        world.now += LEASE_MS
        assert world.pay(Fault("charge", "kill-before")) is None
        world.process = process
        world.now += later_ms

    answer = world.pay(Fault("charge", "after", successor))
    assert problem(answer) == IN_PROGRESS
    # Over: a retry takes over at once.
    assert (answer or {})["headers"]["Retry-After"] == left
