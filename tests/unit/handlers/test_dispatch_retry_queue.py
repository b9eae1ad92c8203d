"""`dispatch` from the retry queue: parked images, once more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from handlers.domain.errors import Unavailable
from infra.failure_alarms import FAILURES
from tests.stream_events import failed_ids, inserted, queue_batch, stream_batch
from tests.unit.handlers.dispatch_bench import Bench, Failing, FailingTopics, accepted, emf, event_ids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.outbox import Delivery

LEAD = accepted(1)


def parked_bodies(bench: Bench, *records: dict[str, Any]) -> list[str]:
    """Dispatch `records` while the topics are gone; return what that left on the retry queue."""
    for tenant in ("acme", "bluebird"):
        bench.remove_topic(tenant)
    bench.dispatch(stream_batch(*records))
    return [json.dumps(message) for message in bench.parked()]


def test_a_parked_image_is_delivered_once_its_reason_is_gone(bench: Bench) -> None:
    parked = json.dumps({"image": inserted(1, LEAD)["dynamodb"]["NewImage"], "error": "x", "parkedAt": 1})

    response = bench.dispatch(queue_batch([parked]))

    assert response == {"batchItemFailures": []}
    assert LEAD.outbox is not None
    assert event_ids(bench.published()) == [LEAD.outbox.event_id]
    assert len(bench.records()) == 1


def test_what_the_stream_parks_the_queue_can_deliver(bench: Bench) -> None:
    bodies = parked_bodies(bench, inserted(1, LEAD))

    topics = Collected()
    response = bench.dispatch(queue_batch(bodies), topics=topics)

    assert response == {"batchItemFailures": []}
    assert LEAD.outbox is not None
    assert topics.documents == [LEAD.outbox.document]


def test_a_parked_record_that_fails_again_stays_on_the_queue_and_is_not_parked_anew(bench: Bench) -> None:
    bodies = parked_bodies(bench, inserted(1, LEAD), inserted(2, accepted(2, "bluebird")))

    response = bench.dispatch(queue_batch(bodies))

    assert failed_ids(response) == ["message-0", "message-1"]
    assert bench.parked() == []


def test_one_tenants_fault_leaves_the_rest_of_the_messages_alone(bench: Bench) -> None:
    images = [inserted(n, accepted(n, tenant)) for n, tenant in ((1, "acme"), (2, "bluebird"))]
    bodies = [json.dumps({"image": record["dynamodb"]["NewImage"]}) for record in images]
    bench.remove_topic("acme")

    response = bench.dispatch(queue_batch(bodies))

    assert failed_ids(response) == ["message-0"]
    assert len(bench.published("bluebird")) == 1


def test_an_outage_fails_the_messages_and_asks_once(bench: Bench) -> None:
    bodies = [json.dumps({"image": inserted(n, accepted(n))["dynamodb"]["NewImage"]}) for n in (1, 2)]
    down = Failing(Unavailable("records", "ThrottlingException"))

    response = bench.dispatch(queue_batch(bodies), records=down)

    assert failed_ids(response) == ["message-0", "message-1"]
    assert down.calls == 1


def test_a_topic_that_does_not_answer_leaves_the_rest_of_the_messages_alone(bench: Bench) -> None:
    images = [inserted(n, accepted(n, tenant)) for n, tenant in ((1, "acme"), (2, "bluebird"), (3, "acme"))]
    bodies = [json.dumps({"image": record["dynamodb"]["NewImage"]}) for record in images]
    topics = FailingTopics(bench.topics, {"acme": Unavailable("topics", "Throttled")})

    response = bench.dispatch(queue_batch(bodies), topics=topics)

    assert failed_ids(response) == ["message-0", "message-2"]
    assert len(bench.published("bluebird")) == 1


def test_messages_that_fail_are_told_to_wait_and_the_delivered_are_left_alone(bench: Bench) -> None:
    noted = NotedPauses()
    bodies = ["{", json.dumps({"image": inserted(1, LEAD)["dynamodb"]["NewImage"]}), "{", "["]
    batch = queue_batch(bodies)
    for record, receives in zip(batch["Records"], ("1", "2", "4", "19"), strict=True):
        record["attributes"]["ApproximateReceiveCount"] = receives

    bench.dispatch(batch, parking=noted)

    assert noted.messages == {"message-0": "1", "message-2": "4", "message-3": "19"}


def test_a_pause_that_cannot_be_set_fails_nobody_elses_message(bench: Bench) -> None:
    bodies = [json.dumps({"image": inserted(1, LEAD)["dynamodb"]["NewImage"]}), "{"]

    response = bench.dispatch(queue_batch(bodies), parking=Failing(Unavailable("retry queue", "Timeout")))

    assert failed_ids(response) == ["message-1"]
    assert bench.log_lines()[-1]["reason"] == "retry queue: Timeout"


def test_one_message_that_cannot_be_hidden_is_told_and_the_others_wait(bench: Bench) -> None:
    for _ in range(2):
        bench.dependencies.parking.park({"no": "receipt"}, "x", 1)
    batch = bench.retry_batch()
    # Its visibility ended while it was worked on, and another function has it.
    batch["Records"][0]["receiptHandle"] = "stale"

    response = bench.dispatch(batch)

    assert len(failed_ids(response)) == 2
    assert bench.hidden_for(batch["Records"][1]) == pytest.approx(60, abs=5)
    assert bench.log_lines()[-1]["reason"] == "work queue: ReceiptHandleIsInvalid"


def test_an_image_of_a_newer_release_waits_for_that_release(bench: Bench) -> None:
    newer = inserted(1, LEAD)
    newer["dynamodb"]["NewImage"]["schema"] = {"N": "2"}
    assert bench.dispatch(stream_batch(newer)) == {"batchItemFailures": []}
    [parked] = bench.parked()

    assert failed_ids(bench.dispatch(queue_batch([json.dumps(parked)]))) == ["message-0"]
    parked["image"]["schema"] = {"N": "1"}  # as the newer release reads it
    assert failed_ids(bench.dispatch(queue_batch([json.dumps(parked)]))) == []
    assert len(bench.published()) == 1


@pytest.mark.parametrize("body", ["", "{", "[]", "7", "{}", '{"image":7}', '{"image":null}'])
def test_a_message_that_nobody_parked_goes_the_way_of_the_redrive_policy(bench: Bench, body: str) -> None:
    good = json.dumps({"image": inserted(1, LEAD)["dynamodb"]["NewImage"]})

    response = bench.dispatch(queue_batch([body, good]))

    assert failed_ids(response) == ["message-0"]
    assert len(bench.published()) == 1
    assert bench.log_lines()[0]["outcome"] == "still_parked"


def counted(output: str, name: str) -> int:
    """How many of a metric were emitted."""
    return sum(line.get(name, [0])[0] for line in emf(output))


@pytest.mark.parametrize("topicless", [True, False])
def test_one_poisoned_receipt_never_looks_like_a_function_that_fails(
    bench: Bench, capsys: pytest.CaptureFixture[str], *, topicless: bool
) -> None:
    poisoned = inserted(1, LEAD)
    if topicless:
        bench.remove_topic("acme")
    else:
        del poisoned["dynamodb"]["NewImage"]["outbox"]["M"]["document"]
    bench.dispatch(stream_batch(poisoned))
    [parked] = bench.parked()

    # At once, after one minute, after three: all of them within the five that its alarm looks at.
    for receives in (1, 2, 3):
        batch = queue_batch([json.dumps(parked)])
        batch["Records"][0]["attributes"]["ApproximateReceiveCount"] = str(receives)
        assert failed_ids(bench.dispatch(batch, parking=NotedPauses())) == ["message-0"]

    said = capsys.readouterr().out
    assert (counted(said, "DispatchParked"), counted(said, "StillParked")) == (1, 3)
    # Not even once for a topic: that is no fault of the code's.
    assert counted(said, "DispatchFailed") == (0 if topicless else 1) < FAILURES["dispatch"].threshold
    assert [line["outcome"] for line in bench.log_lines()] == ["parked", *3 * ["still_parked"]]


def test_an_outage_that_the_retry_queue_meets_is_a_failure_of_the_function(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    body = json.dumps({"image": inserted(1, LEAD)["dynamodb"]["NewImage"]})

    bench.dispatch(queue_batch([body]), records=Failing(Unavailable("records", "Throttled")))

    said = capsys.readouterr().out
    assert (counted(said, "DispatchFailed"), counted(said, "StillParked")) == (1, 0)


def test_the_failure_of_a_message_is_counted_and_logged_with_its_tenant(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    body = json.dumps({"image": inserted(1, LEAD)["dynamodb"]["NewImage"]})

    bench.dispatch(
        queue_batch([body]), topics=FailingTopics(bench.topics, {"acme": Unavailable("topics", "Throttled")})
    )

    [line] = emf(capsys.readouterr().out)
    assert (line["StillParked"], line["TenantId"]) == ([1], "acme")
    [line] = [line for line in bench.log_lines() if "outcome" in line]
    assert (line["outcome"], line["tenant"], line["reason"]) == ("still_parked", "acme", "topics: Throttled")


class NotedPauses:
    """A retry queue that notes which messages shall wait, and after how many receives."""

    def __init__(self) -> None:
        self.messages: dict[str, str] = {}

    def park(self, image: Mapping[str, Any], error: str, parked_at_ms: int) -> None:
        raise AssertionError("a message of the queue is parked already")

    def back_off(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self.messages |= {one["messageId"]: one["attributes"]["ApproximateReceiveCount"] for one in messages}


class Collected:
    """Topics that keep the documents that they were given."""

    def __init__(self) -> None:
        self.documents: list[str] = []

    def publish(self, delivery: Delivery, event: str) -> None:
        self.documents.append(delivery.document)
