"""What a provider's list of charges says: this charge, none, or neither."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.handlers.payment_world import DAY_MS, Fault, World, created, problem

UNKNOWN = (504, "effect-unknown")
NOT_CHARGED = (502, "not-charged")


def sent_key(world: World) -> str:
    return world.sent[0][2]["idempotency-key"]


def charge_of(world: World, **changes: Any) -> dict[str, Any]:
    """A charge as the provider lists it."""
    listed = {"id": "ch_1", "status": "succeeded", "idempotencyKey": sent_key(world), "createdAt": 1.5}
    return {**listed, "amount": 1999, "currency": "EUR", **changes}


@pytest.fixture
def asked() -> World:
    """A payment whose charge is to be looked up, long after everything has settled."""
    world = World(honoursSeconds=3600)
    world.window_seconds = 7 * 86_400
    world.pay(Fault("charge", "kill-before"))
    world.now += DAY_MS
    return world


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "pending"},
        {"status": "processing"},
        {"status": None},
        {"status": ["declined"]},
        {"id": 7},
        {"id": ""},
        {"id": "x" * 256},
        {"id": "ch 1"},
        {"id": "ch_\u00e9"},
        {"id": "ch_\ud800"},
        {"idempotencyKey": "somebody else's"},
        {"idempotencyKey": None},
        {"idempotencyKey": "somebody else's", "status": "declined"},
        {"amount": 1998},
        {"amount": "1999"},
        {"currency": "USD"},
    ],
)
def test_what_is_not_this_charge_or_not_yet_one_is_neither_a_charge_nor_none(
    asked: World, changes: dict[str, Any]
) -> None:
    declined = charge_of(asked, status="declined")
    for charges in ([charge_of(asked, **changes)], [declined, charge_of(asked, **changes)]):
        asked.provider_answers = (200, {"charges": charges})
        assert problem(asked.pay()) == UNKNOWN
    # Nothing final was stored: the next one asks again.
    asked.provider_answers = (200, {"charges": [charge_of(asked)]})
    assert created(asked.pay())["chargeId"] == "ch_1"


@pytest.mark.parametrize("entry", [7, None, "ch_1", ["ch_1"], {}, {"chargeId": "ch_1"}])
def test_an_entry_that_is_no_charge_is_not_none(asked: World, entry: object) -> None:
    asked.provider_answers = (200, {"charges": [entry]})
    assert problem(asked.pay()) == UNKNOWN


@pytest.mark.parametrize("statuses", [[], ["declined"], ["failed", "declined"]])
def test_only_no_entry_or_entries_that_say_so_are_none(asked: World, statuses: list[str]) -> None:
    listed = [charge_of(asked, status=status) for status in statuses]
    asked.provider_answers = (200, {"charges": listed})
    assert problem(asked.pay()) == NOT_CHARGED


@pytest.mark.parametrize(
    "changes", [{"amount": None, "currency": None}, {"currency": "eur"}, {"id": "c" * 255}, {"id": "~!"}]
)
def test_a_charge_is_believed_by_its_key_and_what_else_it_says(asked: World, changes: dict[str, Any]) -> None:
    charge = charge_of(asked, **changes)
    asked.provider_answers = (200, {"charges": [charge]})
    assert created(asked.pay())["chargeId"] == charge["id"]


@pytest.mark.parametrize(
    ("times", "first"),
    [
        ((3, 1.5, 2), "ch_1"),
        ((None, 1, 2), "ch_0"),
        (("b", "a", "c"), "ch_0"),
        ((3, float("nan"), 1), "ch_0"),
    ],
)
def test_of_several_charges_the_first_made_is_the_answer_and_people_hear_of_it(
    asked: World, times: tuple[Any, ...], first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    charges = [charge_of(asked, id=f"ch_{n}", createdAt=time) for n, time in enumerate(times)]
    other = charge_of(asked, id="ch_other", idempotencyKey="other", createdAt=0)
    asked.provider_answers = (200, {"charges": [other, *charges]})
    assert created(asked.pay())["chargeId"] == first
    assert '"SeveralCharges":[1.0]' in capsys.readouterr().out
    assert json.loads(asked.log.getvalue().splitlines()[-1])["several_charges"] == "true"
