"""The payment provider of the stand-in: one charge for a key, as the large providers have it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.stand_in.conftest import CHARGE, CHARGES

if TYPE_CHECKING:
    from tests.unit.stand_in.conftest import Bench


def test_a_charge_is_made_once_and_replayed(bench: Bench) -> None:
    first = bench.charge()
    assert first.status_code == 201
    assert first.json()["status"] == "succeeded"
    again = bench.charge()
    assert (again.status_code, again.json(), again.headers["Idempotent-Replayed"]) == (
        201,
        first.json(),
        "true",
    )
    assert "Idempotent-Replayed" not in first.headers
    assert [charge["id"] for charge in bench.charges()] == [first.json()["id"]]


def test_a_key_used_with_another_body_is_refused_and_charges_nothing(bench: Bench) -> None:
    bench.charge()
    assert bench.charge(amount=2000).status_code == 400
    assert len(bench.charges()) == 1


def test_the_same_key_at_another_provider_is_another_key(bench: Bench) -> None:
    bench.charge()
    other = bench.client.post("/other.example/charges", json=CHARGE, headers={"Idempotency-Key": "k-1"})
    assert other.status_code == 201
    assert {charge["account"] for charge in bench.charges()} == {"pay.example/v1", "other.example"}


def test_a_declined_card_is_an_answer_that_is_kept_too(bench: Bench) -> None:
    for replayed in (None, "true"):
        declined = bench.charge(paymentMethod="pm_declined")
        assert (declined.status_code, declined.json()["status"]) == (402, "declined")
        assert declined.headers.get("Idempotent-Replayed") == replayed
    assert bench.charges() == []


def test_a_forgotten_key_charges_again_but_both_charges_are_found_by_it(bench: Bench) -> None:
    first = bench.charge().json()["id"]
    put = bench.client.put("/_stand-in/settings", json={"keysForgottenAfterSeconds": 0})
    assert put.json() == {"keysForgottenAfterSeconds": 0.0}
    found = bench.client.get(CHARGES, params={"idempotencyKey": "k-1"}).json()["charges"]
    assert [charge["id"] for charge in found] == [first]
    second = bench.charge().json()["id"]
    assert first != second
    found = bench.client.get(CHARGES, params={"idempotencyKey": "k-1"}).json()["charges"]
    assert [charge["id"] for charge in found] == [first, second]


def test_a_key_that_was_never_used_has_no_charges(bench: Bench) -> None:
    assert bench.client.get(CHARGES, params={"idempotencyKey": "none"}).json() == {"charges": []}
    assert bench.client.get(CHARGES).status_code == 400


@pytest.mark.parametrize(
    "wrong", [{"amount": 0}, {"amount": 1.5}, {"amount": True}, {"currency": 5}, {"paymentMethod": None}]
)
def test_a_charge_that_says_no_amount_or_method_is_refused_and_leaves_the_key_free(
    bench: Bench, wrong: dict[str, Any]
) -> None:
    assert bench.charge(**wrong).status_code == 400
    assert bench.charge().status_code == 201


def test_a_charge_without_a_key_is_refused(bench: Bench) -> None:
    assert bench.charge(key=None).status_code == 400
    assert bench.charges() == []


def test_while_the_first_runs_its_key_is_in_use(bench: Bench) -> None:
    bench.faults({"fault": "latency", "value": 15_000, "times": 1})
    with ThreadPoolExecutor() as pool:
        both = [pool.submit(bench.charge), pool.submit(bench.charge)]
        refused = next(as_completed(both)).result()  # the other is held until it is released
        bench.release.set()
        answers = [call.result().status_code for call in both]
    assert refused.status_code == 409
    assert sorted(answers) == [201, 409]
    assert len(bench.charges()) == 1


def test_many_at_once_make_one_charge_for_each_key(bench: Bench) -> None:
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda n: bench.charge(f"k-{n % 10}"), range(400)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    keys = [charge["idempotencyKey"] for charge in bench.charges()]
    assert sorted(keys) == sorted(f"k-{n}" for n in range(10))
