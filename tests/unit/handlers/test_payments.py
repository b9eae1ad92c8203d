"""Payments: what the provider says is what the caller is told, stored where it is final, and done once."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from handlers.domain.receipt import Status
from tests.builders import NOW_MS
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.payment_world import (
    DAY_MS,
    LEASE_MS,
    PAYMENT,
    Fault,
    World,
    created,
    problem,
    receipt_in,
)

UNKNOWN = (504, "effect-unknown")
FAILED = (502, "effect-failed")


def test_a_payment_is_charged_once_under_a_key_of_ours_and_replayed() -> None:
    world = World()
    answer = world.pay()
    body = created(answer)
    (charge,) = world.charges()
    assert body == {
        "id": body["id"],
        "createdAt": body["createdAt"],
        "status": "succeeded",
        "amount": 1999,
        "currency": "EUR",
        "chargeId": charge["id"],
    }
    assert answer is not None
    assert answer["headers"]["Location"] == f"/v1/payments/{body['id']}"
    ((method, target, headers),) = world.sent
    assert (method, target, charge["reference"]) == ("POST", "/v1/charges", "order-7")
    assert len(headers["idempotency-key"]) == 40
    assert "authorization" not in headers
    again = world.pay()
    assert again is not None
    assert (again["statusCode"], again["body"]) == (201, answer["body"])
    assert again["headers"]["Idempotent-Replayed"] == "true"
    assert again["headers"]["Idempotency-First-Seen"] == body["createdAt"]
    assert len(world.charges()) == 1


@pytest.mark.parametrize(("checkpoint", "writes"), [(False, 2), (True, 3)])
def test_a_payment_is_two_writes_three_with_a_checkpoint_and_one_for_a_duplicate(
    checkpoint: bool, writes: int
) -> None:
    world = World(checkpoint=checkpoint)
    for expected in (["put", "charge", *["checkpoint"] * checkpoint, "complete"], ["put"], ["put"]):
        created(world.pay())
        assert world.process.calls == expected
    assert isinstance(world.store, InMemoryReceipts)
    assert world.store.writes == writes + 2


def test_what_follows_is_stored_with_the_answer() -> None:
    world = World()
    body = created(world.pay())
    stored = receipt_in(world)
    assert stored.outbox is not None
    assert (stored.outbox.type, stored.outbox.record_id) == ("payment.created", body["id"])
    document = json.loads(stored.outbox.document)
    assert document == {
        "id": body["id"],
        "createdAt": body["createdAt"],
        "payment": PAYMENT,
        "status": "succeeded",
        "chargeId": body["chargeId"],
    }
    assert (stored.status, stored.expires_at, stored.lease_until) == (Status.COMPLETED, NOW_MS + DAY_MS, 0)


def test_the_provider_gets_the_newest_of_the_tenant_s_tokens() -> None:
    world = World()
    world.tokens = ("newest", "older")
    created(world.pay())
    assert world.sent[0][2]["authorization"] == "Bearer newest"
    assert "newest" not in world.log.getvalue()


@pytest.mark.parametrize("amount", [1, 1999, 999_999_999_999])
def test_a_declined_payment_is_402_stored_and_replayed_and_nothing_follows(amount: int) -> None:
    world = World()
    declined: dict[str, Any] = {"paymentMethod": "pm_declined", "amount": amount}
    first = world.pay(**declined)
    assert problem(first) == (402, "declined")
    again = world.pay(**declined)
    assert first is not None
    assert again is not None
    assert (problem(again), again["body"]) == ((402, "declined"), first["body"])
    assert again["headers"]["Idempotent-Replayed"] == "true"
    assert (receipt_in(world).outbox, len(world.sent)) == (None, 1)


@pytest.mark.parametrize(
    ("status", "document", "expected"),
    [
        (400, {}, FAILED),
        (401, {}, FAILED),
        (404, b"<html>", FAILED),
        (422, {"charged": "no"}, FAILED),
        (429, {}, FAILED),
        (500, {"charged": False}, FAILED),
        (503, {"charged": False}, FAILED),
        (500, {}, UNKNOWN),
        (503, b"", UNKNOWN),
        (408, {}, UNKNOWN),
        (302, {}, UNKNOWN),
        # It says that it charged, and not what: to be asked again under the same key.
        (201, {}, UNKNOWN),
        (201, {"id": 7, "status": "succeeded"}, UNKNOWN),
        (200, {"id": "ch", "status": "pending"}, UNKNOWN),
        (201, b"\xff", UNKNOWN),
        (201, b"[" * 5000, UNKNOWN),
        (402, b"", (402, "declined")),
        (409, {}, (409, "request-in-progress")),
    ],
)
def test_every_answer_of_the_provider_has_its_own(
    status: int, document: Any, expected: tuple[int, str]
) -> None:
    world = World()
    world.provider_answers = (status, document)
    answer = world.pay()
    assert problem(answer) == expected
    if expected[0] == 409:
        assert answer is not None
        assert answer["headers"]["Retry-After"] == "2"
    if expected[0] != 402:
        # Released: a retry runs at once, under the same key there.
        world.provider_answers = None
        created(world.pay())
        assert world.process.calls == ["put", "take_over", "charge", "complete"]
        keys = {headers["idempotency-key"] for _, _, headers in world.sent}
        assert (len(world.sent), len(keys), len(world.charges())) == (2, 1, 1)


@pytest.mark.parametrize(("kind", "expected", "charged"), [("refused", FAILED, 0), ("lost", UNKNOWN, 1)])
def test_no_connection_is_502_and_no_answer_504_and_the_retry_charges_once(
    kind: str, expected: tuple[int, str], charged: int
) -> None:
    world = World()
    assert problem(world.pay(Fault("charge", kind))) == expected
    assert len(world.charges()) == charged
    body = created(world.pay())
    assert [charge["id"] for charge in world.charges()] == [body["chargeId"]]


def test_a_tenant_without_a_provider_has_no_payments() -> None:
    world = World()
    world.options = {}
    answer = world.pay()
    assert problem(answer) == (403, "forbidden")
    assert answer is not None
    assert "payments are not set up for this tenant" in answer["body"]
    assert world.process.calls == []


def test_another_body_is_422_and_names_what_differs_while_it_runs_and_after() -> None:
    world = World()
    for fault in (Fault("charge", "kill-before"), None):
        world.pay(*[fault] if fault else [])
        for changes, names in (
            ({"amount": 2000}, "amount differs"),
            ({"note": "x", "reference": "secret-reference"}, "note, reference differ"),
        ):
            answer = world.pay(**changes)
            assert problem(answer) == (422, "key-reused")
            assert answer is not None
            assert names in answer["body"]
            assert "secret-reference" not in answer["body"]
        world.now += LEASE_MS


def test_a_key_used_again_after_its_window_is_a_new_charge_under_a_new_key() -> None:
    world = World()
    bodies = []
    for _ in range(3):
        bodies.append(created(world.pay()))
        world.now += DAY_MS
    assert len({body["chargeId"] for body in bodies}) == len({body["id"] for body in bodies}) == 3
    keys = [headers["idempotency-key"] for _, _, headers in world.sent]
    assert len(set(keys)) == 3
    assert [charge["idempotencyKey"] for charge in world.charges()] == keys


@pytest.mark.parametrize("wait_for_the_others", [True, False])
def test_of_64_at_once_one_is_charged_and_the_others_wait_or_are_told_the_same(
    wait_for_the_others: bool,
) -> None:
    world, callers = World(), 64
    barrier, others = threading.Barrier(callers), threading.Semaphore(0)
    answers: list[dict[str, Any]] = []

    def charging() -> None:
        # The charge takes until all the others have been answered: none of them can have run it too.
        for _ in range(callers - 1 if wait_for_the_others else 0):
            assert others.acquire(timeout=30)

    def call() -> None:
        barrier.wait()
        answer = world.pay()
        assert answer is not None
        answers.append(answer)
        others.release()

    world.charging = charging
    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = [answer for answer in answers if answer["statusCode"] == 201]
    new = [answer for answer in done if "Idempotent-Replayed" not in answer["headers"]]
    assert (len(new), len(world.charges())) == (1, 1)
    assert {answer["body"] for answer in done} == {new[0]["body"]}
    refused = [problem(answer) for answer in answers if answer["statusCode"] != 201]
    assert set(refused) <= {(409, "request-in-progress")}
    assert not wait_for_the_others or len(refused) == callers - 1
    assert len(answers) == callers


@pytest.mark.parametrize(
    ("status", "document", "passes"),
    [
        (400, {}, False),
        (401, {}, False),
        (422, {"charged": False}, False),
        (429, {}, True),
        (503, {"charged": False}, True),
    ],
)
def test_a_refusal_that_will_not_pass_is_not_told_to_be_sent_again_at_once(
    status: int, document: Any, passes: bool
) -> None:
    world = World()
    world.provider_answers = (status, document)
    answer = world.pay()
    assert problem(answer) == FAILED
    detail = json.loads((answer or {})["body"])["detail"]
    assert ("runs at once" in detail, "settings looked at" in detail) == (passes, not passes)
