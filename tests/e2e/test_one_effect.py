"""Many callers, one key, one effect: proved by what is stored and published afterwards."""

from __future__ import annotations

import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import LEAD
from tests.e2e.api import Api, eventually, fresh_key
from tests.e2e.stored import hear, marked

if TYPE_CHECKING:
    import httpx

    from tests.platform_fixture import RunningPlatform

pytestmark = [pytest.mark.platform, pytest.mark.alone]

CALLERS = 64
ROUNDS = 50
# How many rounds may be repeated because a caller met an outage; more would say that something is wrong.
_ROUNDS_WITH_OUTAGES = 10


def storm(
    alpha: Api, pool: ThreadPoolExecutor, key: str, mark: str, callers: int = CALLERS
) -> list[httpx.Response]:
    """All callers send the same lead at one moment; `mark` is in it, to find all that came of it."""
    barrier = threading.Barrier(callers)

    def call() -> httpx.Response:
        barrier.wait()
        return alpha.post(LEAD | {"mark": mark}, idempotency_key=key)

    return [future.result() for future in [pool.submit(call) for _ in range(callers)]]


def test_64_callers_at_once_make_one_lead_fifty_times(platform: RunningPlatform, alpha: Api) -> None:
    """One new answer, 63 identical replays, one receipt, one record, one event id: every round."""
    made: dict[str, str] = {}
    mark = fresh_key("mark")
    with ThreadPoolExecutor(CALLERS) as pool:
        warm_up(alpha, pool)
        counted = 0
        while counted < ROUNDS:
            key = fresh_key(f"barrier-{counted}")
            answers = storm(alpha, pool, key, mark)
            outages = [answer for answer in answers if answer.status_code == 503]
            assert len(made) < ROUNDS + _ROUNDS_WITH_OUTAGES
            made[key] = the_one_lead(answers, alpha, key, mark)
            counted += not outages
    # Everything that carries the mark, whatever its id: what nobody was told of would show here.
    receipts = marked(platform, "receipts", "outbox.document", mark)
    assert sorted((item["pk"]["S"], item["outbox"]["M"]["recordId"]["S"]) for item in receipts) == sorted(
        (f"alpha#{key}", lead) for key, lead in made.items()
    )
    heard = hear(platform, "alpha", set(made.values()), also=lambda event: _mark_of(event) == mark)
    events = {(lead, event) for lead, ids in heard.items() for event in ids}
    records = marked(platform, "records", "document", mark)
    assert sorted(item["pk"]["S"] for item in records) == sorted(f"alpha#{lead}" for lead in made.values())
    assert {(item["recordId"]["S"], item["eventId"]["S"]) for item in records} == events
    assert len({event for _, event in events}) == len(events) == len(made)


def the_one_lead(answers: list[httpx.Response], alpha: Api, key: str, mark: str) -> str:
    """Check one round, and return the id of its lead.

    64 processes on two cores may outlast a call's time limit now and then: such a caller gets 503, which says
    to send again. What it gets then is held to the same rule; the round is not one of the fifty.
    """
    outages = [answer for answer in answers if answer.status_code == 503]
    assert Counter(answer.status_code for answer in answers) - Counter({503: len(outages)}) == {
        201: CALLERS - len(outages)
    }
    created = [answer for answer in answers if answer.status_code == 201]
    replays = [answer for answer in created if answer.headers.get("Idempotent-Replayed") == "true"]
    # Without an outage exactly one is new; with one, the new answer may be among those that were lost.
    assert len(created) - len(replays) in ({0, 1} if outages else {1})
    created += [
        eventually(
            lambda: (again := alpha.post(LEAD | {"mark": mark}, idempotency_key=key)).is_success and again
        )
        for _ in outages
    ]
    assert len({(answer.content, answer.headers["Location"]) for answer in created}) == 1
    lead: str = created[0].json()["id"]
    return lead


def _mark_of(event: dict[str, Any]) -> object:
    return event["data"].get("lead", {}).get("mark")


def warm_up(alpha: Api, pool: ThreadPoolExecutor) -> None:
    """Start a worker for every caller, a few at a time: the local AWS runs a process for each.

    64 interpreters that start at once on two cores outlast the functions' own time limits.
    """
    for callers in (1, 8, 16, 32, 48, CALLERS):

        def all_answered(callers: int = callers) -> bool:
            answers = storm(alpha, pool, fresh_key("warm-up"), "warm-up", callers)
            return {answer.status_code for answer in answers} == {201}

        eventually(all_answered, seconds=120)


@pytest.mark.parametrize("number", range(3))
def test_an_event_is_a_cloud_event_with_the_record_as_its_data(
    platform: RunningPlatform, alpha: Api, number: int
) -> None:
    made = alpha.post(
        LEAD | {"n": number}, idempotency_key=fresh_key(), headers={"X-Correlation-Id": f"trace-{number}"}
    )
    sqs, url = platform.client("sqs"), platform.outputs.tenants["alpha"].audit_queue_url

    def the_event() -> tuple[dict[str, Any], dict[str, Any]] | None:
        batch = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
        for message in batch.get("Messages", []):
            event = json.loads(message["Body"])
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            if event["subject"] == made.json()["id"]:
                return event, message.get("MessageAttributes", {})
        return None

    event, attributes = eventually(the_event)
    assert event["specversion"] == "1.0"
    assert (event["type"], event["source"]) == ("lead.created", "/onceward/local/alpha")
    assert (event["time"], event["correlationid"]) == (made.json()["createdAt"], f"trace-{number}")
    assert event["data"] == alpha.get(made.headers["Location"]).json()
    assert {name: value["StringValue"] for name, value in attributes.items()} == {
        "tenantId": "alpha",
        "type": "lead.created",
        "eventId": event["id"],
    }
