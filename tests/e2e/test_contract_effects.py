"""Section 3 of the contract where effects run and fail: in progress, 402, 502, 503, 504, and the retries."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.api import Api, assert_problem, eventually, fresh_key
from tests.e2e.killing import killed
from tests.e2e.operations import APPOINTMENTS, BESIDE_LEADS, ORDERS, PAYMENTS, Operation
from tests.e2e.test_contract_store import without_rights

if TYPE_CHECKING:
    import httpx

    from tests.e2e.stand_in import StandIn
    from tests.platform_fixture import RunningPlatform

pytestmark = pytest.mark.platform

# In the year 2100: a lease that no test outlives.
FAR_MS = 4_102_444_800_000


# Where `execute` is killed: the provider has charged, and nobody has heard of it.
CHARGED = ("handlers/domain/payment_provider.py", b"        return payment_answers.charged(answer)\n")
DAY_MS = 86_400_000


def set_back(platform: RunningPlatform, answer: httpx.Response) -> None:
    """Make the receipt behind a first answer one whose owner still runs, as administrator."""
    dynamodb, table = platform.client("dynamodb"), platform.outputs.tables["receipts"]
    pages = dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    record = answer.headers["Location"].rsplit("/", 1)[1]
    (item,) = (
        item
        for page in pages
        for item in page["Items"]
        if item.get("outbox", {}).get("M", {}).get("recordId") == {"S": record}
    )
    dynamodb.update_item(
        TableName=table,
        Key={"pk": item["pk"]},
        UpdateExpression="SET #s = :running, leaseUntil = :far, expiresAt = :far REMOVE #r, outbox, outboxId",
        ExpressionAttributeNames={"#s": "status", "#r": "response"},
        ExpressionAttributeValues={":running": {"S": "IN_PROGRESS"}, ":far": {"N": str(FAR_MS)}},
    )


def change(platform: RunningPlatform, key: str, **numbers: int) -> None:
    """Set attributes of the receipt under one of alpha's keys, as administrator."""
    platform.client("dynamodb").update_item(
        TableName=platform.outputs.tables["receipts"],
        Key={"pk": {"S": f"alpha#{key}"}},
        UpdateExpression="SET " + ", ".join(f"{name} = :{name}" for name in numbers),
        ConditionExpression="attribute_exists(pk)",
        ExpressionAttributeValues={f":{name}": {"N": str(value)} for name, value in numbers.items()},
    )


@pytest.mark.parametrize("operation", BESIDE_LEADS, ids=lambda each: each.name)
def test_while_the_first_runs_the_same_is_409_and_another_body_422(
    platform: RunningPlatform, alpha: Api, operation: Operation
) -> None:
    body, key = operation.body(), fresh_key()
    set_back(platform, operation.send(alpha, body, key))
    for _ in range(3):
        answer = operation.send(alpha, body, key)
        assert_problem(answer, 409, "request-in-progress")
        assert int(answer.headers["Retry-After"]) >= 1
        assert_problem(operation.send(alpha, body | operation.other, key), 422, "key-reused")


def test_a_payment_that_runs_is_409_for_its_duplicate_and_replayed_when_done(
    alpha: Api, stand_in: StandIn
) -> None:
    # Two at once need two processes (and `read` one); cold, the second would come after the first is done.
    alpha.get(f"/v1/receipts/{fresh_key()}")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: PAYMENTS.send(alpha), range(2)))
    body, key = PAYMENTS.body(), fresh_key()
    with (
        stand_in.fault("latency", 8_000, bodyContains=body["reference"]),
        ThreadPoolExecutor(1) as pool,
    ):
        first = pool.submit(PAYMENTS.send, alpha, body, key)
        # Its claim is there: sent earlier, the duplicate could be the one that is charged.
        eventually(lambda: alpha.get(f"/v1/receipts/{key}").status_code == 200)
        in_progress = eventually(lambda: _not_new(PAYMENTS.send(alpha, body, key), first.done()))
        assert_problem(in_progress, 409, "request-in-progress")
        assert 1 <= int(in_progress.headers["Retry-After"]) <= 40
        assert first.result().status_code == 201
    again = PAYMENTS.send(alpha, body, key)
    assert (again.status_code, again.content) == (201, first.result().content)
    assert len(stand_in.charges(body["reference"])) == 1


def _not_new(answer: httpx.Response, over: bool) -> httpx.Response | None:
    assert not over or answer.status_code != 409
    return answer if answer.status_code == 409 else None


@pytest.mark.parametrize("amount", [1, 1999, 10_000_000])
def test_a_declined_payment_is_402_stored_and_replayed(alpha: Api, stand_in: StandIn, amount: int) -> None:
    body, key = PAYMENTS.body() | {"paymentMethod": "pm_declined", "amount": amount}, fresh_key()
    first = PAYMENTS.send(alpha, body, key)
    assert_problem(first, 402, "declined")
    again = PAYMENTS.send(alpha, body, key)
    assert (again.status_code, again.content) == (402, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["Content-Type"] == first.headers["Content-Type"]
    assert stand_in.charges(body["reference"]) == []


@pytest.mark.parametrize(
    ("fault", "value", "status", "slug", "charged"),
    [
        ("status", 503, 504, "effect-unknown", 0),
        ("lose-answer", None, 504, "effect-unknown", 1),
        ("reset", None, 504, "effect-unknown", 0),
        ("status", 400, 502, "effect-failed", 0),
        ("status", 429, 502, "effect-failed", 0),
        # A provider that says so in as many words, whatever its status.
        ("status", {"status": 503, "body": {"charged": False}}, 502, "effect-failed", 0),
    ],
)
def test_a_payment_that_fails_is_502_or_504_and_the_retry_runs_at_once_and_charges_once(
    alpha: Api, stand_in: StandIn, fault: str, value: object, status: int, slug: str, charged: int
) -> None:
    body, key = PAYMENTS.body(), fresh_key()
    with stand_in.fault(fault, value, bodyContains=body["reference"]):
        assert_problem(PAYMENTS.send(alpha, body, key), status, slug)
    assert len(stand_in.charges(body["reference"])) == charged
    again = PAYMENTS.send(alpha, body, key)
    assert (again.status_code, "Idempotent-Replayed" in again.headers) == (201, False)
    (charge,) = stand_in.charges(body["reference"])
    assert again.json()["chargeId"] == charge["id"]
    assert PAYMENTS.send(alpha, body, key).content == again.content


@pytest.mark.parametrize("operation", [ORDERS, PAYMENTS, APPOINTMENTS], ids=lambda each: each.name)
def test_a_store_that_cannot_be_reached_is_503_and_the_retry_takes_effect(
    platform: RunningPlatform, alpha: Api, operation: Operation
) -> None:
    sent = [(fresh_key(), operation.body()) for _ in range(3)]
    with without_rights(platform, operation.function):
        for key, body in sent:
            answer = operation.send(alpha, body, key)
            assert_problem(answer, 503, "store-unavailable")
            assert int(answer.headers["Retry-After"]) >= 1
    for key, body in sent:
        again = eventually(partial(_done, operation, alpha, body, key))
        assert "Idempotent-Replayed" not in again.headers


def _done(operation: Operation, api: Api, body: dict[str, Any], key: str) -> httpx.Response | None:
    answer = operation.send(api, body, key)
    assert answer.status_code in (operation.status, 503)
    return answer if answer.status_code == operation.status else None


def test_a_payment_whose_process_is_killed_after_the_charge_is_charged_once(
    platform: RunningPlatform, alpha: Api, stand_in: StandIn
) -> None:
    body, key = PAYMENTS.body(), fresh_key()
    with killed(platform, "execute", CHARGED):
        assert PAYMENTS.send(alpha, body, key).status_code >= 500
    (charge,) = stand_in.charges(body["reference"])
    # Nothing was released: its lease is what keeps the next one away.
    assert_problem(PAYMENTS.send(alpha, body, key), 409, "request-in-progress")
    change(platform, key, leaseUntil=1)
    again = PAYMENTS.send(alpha, body, key)
    assert (again.status_code, again.json()["chargeId"]) == (201, charge["id"])
    assert stand_in.charges(body["reference"]) == [charge]
    assert PAYMENTS.send(alpha, body, key).content == again.content


@pytest.mark.parametrize(
    ("fault", "value", "answer"),
    [("lose-answer", None, (201, "")), ("status", 503, (502, "not-charged"))],
    ids=["charged", "not charged"],
)
def test_a_payment_that_its_provider_has_forgotten_is_looked_up_and_not_sent_again(
    platform: RunningPlatform,
    alpha: Api,
    stand_in: StandIn,
    fault: str,
    value: int | None,
    answer: tuple[int, str],
) -> None:
    body, key = PAYMENTS.body(), fresh_key()
    with stand_in.fault(fault, value, bodyContains=body["reference"]):
        assert_problem(PAYMENTS.send(alpha, body, key), 504, "effect-unknown")
    before = stand_in.charges(body["reference"])
    # Its provider keeps keys for a day.
    change(platform, key, createdAt=int(time.time() * 1000) - 2 * DAY_MS)
    first, again = PAYMENTS.send(alpha, body, key), PAYMENTS.send(alpha, body, key)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert stand_in.charges(body["reference"]) == before
    if answer[0] == 201:
        assert (first.status_code, first.json()["chargeId"]) == (201, before[0]["id"])
    else:
        assert_problem(first, *answer)
