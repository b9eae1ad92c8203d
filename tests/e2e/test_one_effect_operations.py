"""Many callers, one key, one effect: orders, payments and appointments, proved by what is stored and done.

Leads have test_one_effect.py, webhooks test_contract_webhooks.py.
"""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.api import Api, eventually, fresh_key
from tests.e2e.operations import APPOINTMENTS, BESIDE_LEADS, ORDERS, PAYMENTS, Operation
from tests.e2e.stored import hear, marked

if TYPE_CHECKING:
    import httpx

    from tests.e2e.stand_in import StandIn
    from tests.platform_fixture import RunningPlatform

pytestmark = [pytest.mark.platform, pytest.mark.alone]

CALLERS = 64
ROUNDS = 3
# Rounds in which a caller met an outage count as rounds of the rule, but not as one of the three.
_MOST_ROUNDS = 15


def at_once(
    api: Api, operation: Operation, body: dict[str, Any], key: str, pool: ThreadPoolExecutor, callers: int
) -> list[httpx.Response]:
    """Everybody sends the same request at one moment."""
    barrier = threading.Barrier(callers)

    def call() -> httpx.Response:
        barrier.wait()
        return operation.send(api, body, key)

    return [future.result() for future in [pool.submit(call) for _ in range(callers)]]


@pytest.mark.parametrize("operation", BESIDE_LEADS, ids=lambda each: each.name)
def test_64_callers_at_once_have_one_effect(
    platform: RunningPlatform, alpha: Api, stand_in: StandIn, operation: Operation
) -> None:
    """One new answer, the rest the same or (execute mode) 409; one receipt, record, event and effect."""
    mark = fresh_key("mark")
    made: dict[str, dict[str, Any]] = {}
    counted = rounds = 0
    with ThreadPoolExecutor(CALLERS) as pool:
        for callers in (8, 24, 48):
            at_once(alpha, operation, operation.body(), fresh_key(), pool, callers)
        while counted < ROUNDS:
            rounds += 1
            assert rounds <= _MOST_ROUNDS
            body, key = operation.body() | {"mark": mark}, fresh_key()
            answers = at_once(alpha, operation, body, key, pool, CALLERS)
            record, outage = the_one(answers, operation, alpha, body, key)
            made[record] = body
            counted += not outage
    receipts = marked(platform, "receipts", "outbox.document", mark)
    assert sorted(item["outbox"]["M"]["recordId"]["S"] for item in receipts) == sorted(made)
    heard = hear(platform, "alpha", set(made), also=lambda event: mark in str(event["data"]))
    assert {record: len(events) for record, events in heard.items()} == dict.fromkeys(made, 1)
    records = marked(platform, "records", "document", mark)
    assert sorted(item["recordId"]["S"] for item in records) == sorted(made)
    for record, body in made.items():
        assert_effect(operation, platform, alpha, stand_in, record, body)


def the_one(
    answers: list[httpx.Response], operation: Operation, api: Api, body: dict[str, Any], key: str
) -> tuple[str, bool]:
    """Check one round; the id of its record, and whether a caller met an outage.

    64 processes on two cores may outlast a call's time limit: such a caller gets 503 and may send again.
    """
    statuses = Counter(answer.status_code for answer in answers)
    allowed = {operation.status, 503} | ({409} if operation.function == "execute" else set())
    assert set(statuses) <= allowed, statuses
    for answer in answers:
        if answer.status_code == 409:
            assert answer.json()["type"] == "urn:onceward:problem:request-in-progress"
    done = [answer for answer in answers if answer.status_code == operation.status]
    new = [answer for answer in done if "Idempotent-Replayed" not in answer.headers]
    assert len(new) in ({0, 1} if statuses[503] else {1})

    def again() -> httpx.Response | None:
        answer = operation.send(api, body, key)
        assert answer.status_code in allowed, answer.text
        return answer if answer.status_code == operation.status else None

    if operation is not APPOINTMENTS:
        # (Its window of ten seconds may be over when the last of 64 has its answer.)
        done.append(eventually(again, seconds=60))
    assert len({(answer.content, answer.headers["Location"]) for answer in done}) == 1
    record: str = done[0].json()["id"]
    return record, bool(statuses[503])


def assert_effect(
    operation: Operation,
    platform: RunningPlatform,
    api: Api,
    stand_in: StandIn,
    record: str,
    body: dict[str, Any],
) -> None:
    """It happened once where it happens."""
    stored = api.get(f"{operation.path}/{record}").json()
    if operation is PAYMENTS:
        (charge,) = stand_in.charges(body["reference"])
        assert (charge["id"], charge["amount"]) == (_charge_id(stored), body["amount"])
    elif operation is ORDERS:
        assert eventually(lambda: api.get(f"{operation.path}/{record}").json()["status"] == "COMPLETED")
        assert len(stand_in.upserts(body["customer"])) == 1
    else:
        slots = platform.client("dynamodb").get_paginator("scan")
        pages = slots.paginate(TableName=platform.outputs.tables["slots"], ConsistentRead=True)
        taken = [item for page in pages for item in page["Items"] if record in str(item)]
        assert len(taken) == 1


def _charge_id(stored: dict[str, Any]) -> object:
    found: object = stored["chargeId"]
    return found
