"""The faults that the stand-in can be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.unit.stand_in.conftest import CHARGES

if TYPE_CHECKING:
    from tests.unit.stand_in.conftest import Bench


def test_a_status_is_answered_and_nothing_is_done(bench: Bench) -> None:
    refused = {"status": 503, "body": {"charged": False}, "headers": {"Retry-After": "1"}}
    bench.faults({"fault": "status", "value": refused, "times": 1})
    answer = bench.charge()
    assert (answer.status_code, answer.json(), answer.headers["Retry-After"]) == (
        503,
        {"charged": False},
        "1",
    )
    assert bench.charges() == []
    assert bench.charge().status_code == 201


def test_a_reset_does_nothing_and_cuts_the_connection(bench: Bench) -> None:
    bench.faults({"fault": "reset", "times": 1})
    with pytest.raises(httpx.NetworkError):
        bench.charge()
    assert bench.charges() == []
    assert bench.charge().status_code == 201


def test_a_lost_answer_has_acted_and_the_retry_gets_it(bench: Bench) -> None:
    bench.faults({"fault": "lose-answer", "times": 1})
    with pytest.raises(httpx.RemoteProtocolError):
        bench.charge()
    made = bench.charges()
    assert len(made) == 1
    again = bench.charge()
    assert (again.json()["id"], again.headers["Idempotent-Replayed"]) == (made[0]["id"], "true")


def test_a_hanging_call_gets_no_answer_and_does_nothing(bench: Bench) -> None:
    bench.faults({"fault": "hang", "times": 1})
    with pytest.raises(httpx.ReadTimeout):
        bench.client.put("/crm.example/contacts/1", json={}, timeout=0.2)
    assert bench.upserts()["writes"] == 0


def test_a_hang_of_some_time_ends_with_a_cut(bench: Bench) -> None:
    bench.faults({"fault": "hang", "value": 50})
    with pytest.raises(httpx.RemoteProtocolError):
        bench.charge()


def test_latency_lets_the_caller_wait_and_then_acts(bench: Bench) -> None:
    bench.faults({"fault": "latency", "value": 100})
    answer = bench.client.put("/crm.example/contacts/1", json={})
    assert answer.status_code == 201
    assert answer.elapsed.total_seconds() >= 0.1


@pytest.mark.parametrize(
    ("match", "meets"),
    [
        ({}, True),
        ({"host": "pay.example", "path": "/v1/*", "method": "post", "bodyContains": '"r-1"'}, True),
        ({"host": "other.example"}, False),
        ({"path": "/v2/*"}, False),
        ({"method": "GET"}, False),
        ({"bodyContains": "r-2"}, False),
    ],
)
def test_a_fault_meets_the_calls_that_it_names_and_no_others(
    bench: Bench, match: dict[str, str], meets: bool
) -> None:
    bench.faults({"fault": "status", "value": 500, "match": match})
    assert (bench.charge().status_code == 500) is meets


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"fault": "status", "value": 600}, "a status from 200 to 599"),
        ({"fault": "reset", "times": 0}, "times: a whole number from 1"),
        ({"fault": "reset", "every": 0}, "every: a whole number from 1"),
    ],
)
def test_a_refused_rule_says_what_would_be_one(bench: Bench, wrong: dict[str, Any], said: str) -> None:
    answer = bench.client.put("/_stand-in/faults", json=[wrong])
    assert said in answer.json()["error"]


def test_every_third_call_and_only_twice(bench: Bench) -> None:
    bench.faults({"fault": "status", "value": 500, "every": 3, "times": 2})
    statuses = [bench.charge(f"k-{number}").status_code for number in range(9)]
    assert statuses == [201, 201, 500] * 2 + [201] * 3
    assert bench.client.get("/_stand-in/faults").json()["faults"][0]["times"] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"fault": "status", "value": 500},
        [{"fault": "explode"}],
        [{"fault": "status"}],
        [{"fault": "status", "value": 700}],
        [{"fault": "latency"}],
        [{"fault": "latency", "value": "1"}],
        [{"fault": "reset", "value": 1}],
        [{"fault": "reset", "time": 1}],
        [{"fault": "reset", "times": -1}],
        [{"fault": "reset", "every": 0}],
        [{"fault": "reset", "times": 0}],
        [{"fault": "status", "value": 99}],
        [{"fault": "status", "value": 600}],
        [{"fault": "reset", "match": {"hosts": "x"}}],
    ],
)
def test_a_rule_that_is_none_is_refused_and_the_old_ones_stay(bench: Bench, wrong: Any) -> None:
    bench.faults({"fault": "status", "value": 503})
    assert bench.client.put("/_stand-in/faults", json=wrong).status_code == 400
    assert bench.charge().status_code == 503


def test_calls_can_be_looked_at_with_what_became_of_them_and_no_credential(bench: Bench) -> None:
    bench.faults({"fault": "reset", "match": {"method": "POST"}})
    with pytest.raises(httpx.NetworkError):
        bench.charge()
    bench.client.get(CHARGES, params={"idempotencyKey": "k-1"}, headers={"Authorization": "Bearer hush"})
    first, second = bench.calls()
    assert (first["method"], first["host"], first["path"], first["key"], first["status"], first["fault"]) == (
        *("POST", "pay.example", "/v1/charges", "k-1", None, "reset"),
    )
    assert (second["status"], first["authorization"]) == (200, None)
    assert len(second["authorization"]) == 64
    assert "hush" not in str(second)


def test_a_reset_of_the_stand_in_takes_all_away(bench: Bench) -> None:
    bench.charge()
    bench.client.put("/crm.example/contacts/1", json={})
    bench.client.put("/_stand-in/settings", json={"keysForgottenAfterSeconds": 1})
    bench.faults({"fault": "reset"})
    assert bench.client.delete("/_stand-in/").status_code == 200
    assert bench.charges() == []
    assert bench.calls() == []
    assert bench.upserts()["entities"] == 0
    assert bench.client.get("/_stand-in/settings").json() == {"keysForgottenAfterSeconds": 86400.0}
    assert bench.charge().status_code == 201


def test_an_unknown_admin_path_and_a_body_without_length_are_told(bench: Bench) -> None:
    assert bench.client.get("/_stand-in/nothing").status_code == 404
    assert bench.client.put("/_stand-in/settings", json={"keys": 1}).status_code == 400
    chunked = bench.client.put("/crm.example/contacts/1", content=iter([b"{}"]))
    assert chunked.status_code == 411
