"""The search's queue of work against SQS (moto): what is brought when, and what becomes a dead letter."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, Protocol
from unittest.mock import patch

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.work_queue import SqsPauses, SqsWorkQueues
from handlers.domain.work_message import WorkMessage, message_in
from proof.programs import Call
from proof.work_queue import WORKER_LIVES_MS, AskingPauses, Queue, WorkQueue
from tests.builders import NOW_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST = WorkMessage("acme", "orders", "R1", "E1", "c1")
SECOND = WorkMessage("acme", "orders", "R2", "E2", "c2")
MOST_RECEIVES = 2
VISIBILITY_SECONDS = 6 * WORKER_LIVES_MS // 1000

# What was received: its work, how often, and by which handle it is hidden or deleted.
Received = tuple[WorkMessage, int, Any]


class WorldOfQueues(Protocol):
    """A queue with dead letters, and its clock."""

    def send(self, message: WorkMessage) -> None: ...
    def receive(self) -> Received | None: ...
    def hide(self, handle: Any, seconds: int) -> None: ...
    def delete(self, handle: Any) -> None: ...
    def wait(self, seconds: int) -> None: ...
    def dead(self) -> int: ...


class Searched:
    """The port of the search."""

    def __init__(self) -> None:
        self.now = NOW_MS
        self.port = WorkQueue([], NOW_MS, MOST_RECEIVES)
        self.state: Queue = self.port.initial()

    def ask(self, port: str, name: str, *arguments: Any) -> Any:
        applied = self.port.apply(self.state, Call(port, name, arguments), self.now)
        self.state = applied.state
        return applied.result

    def send(self, message: WorkMessage) -> None:
        self.ask("work queue", "send", message)

    def receive(self) -> Received | None:
        message = self.ask("work queue", "receive")
        return None if message is None else (message.text, message.receives, message.number)

    def hide(self, handle: Any, seconds: int) -> None:
        AskingPauses(self.ask).hide({str(handle): seconds})

    def delete(self, handle: Any) -> None:
        self.ask("work queue", "acknowledge", handle)

    def wait(self, seconds: int) -> None:
        self.now += seconds * 1000

    def dead(self) -> int:
        return len(self.state.dead)


class Sqs:
    """Moto's SQS, at times that the test sets."""

    def __init__(self) -> None:
        self.now = NOW_MS
        self.client = boto3.client("sqs", region_name="us-east-1")
        name = uuid.uuid4().hex
        self.dead_url = self.client.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
        asked: Any = {"QueueUrl": self.dead_url, "AttributeNames": ["QueueArn"]}
        arn = self.client.get_queue_attributes(**asked)["Attributes"]["QueueArn"]
        redrive = {"deadLetterTargetArn": arn, "maxReceiveCount": MOST_RECEIVES}
        attributes: Any = {
            "VisibilityTimeout": str(VISIBILITY_SECONDS),
            "RedrivePolicy": json.dumps(redrive),
        }
        self.url = self.client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]

    def send(self, message: WorkMessage) -> None:
        SqsWorkQueues({"orders": self.url}, self.client).send(message)

    def receive(self) -> Received | None:
        asked: Any = {"AttributeNames": ["All"], "MessageAttributeNames": ["All"]}
        found: Any = self.client.receive_message(QueueUrl=self.url, **asked).get("Messages", [])
        for one in found:
            correlation = one["MessageAttributes"]["correlationId"]["StringValue"]
            told = {"body": one["Body"], "messageAttributes": {"correlationId": {"stringValue": correlation}}}
            return message_in(told), int(one["Attributes"]["ApproximateReceiveCount"]), one["ReceiptHandle"]
        return None

    def hide(self, handle: Any, seconds: int) -> None:
        SqsPauses(self.url, self.client).hide({handle: seconds})

    def delete(self, handle: Any) -> None:
        self.client.delete_message(QueueUrl=self.url, ReceiptHandle=handle)

    def wait(self, seconds: int) -> None:
        self.now += seconds * 1000

    def dead(self) -> int:
        asked: Any = {"QueueUrl": self.dead_url, "AttributeNames": ["ApproximateNumberOfMessages"]}
        return int(self.client.get_queue_attributes(**asked)["Attributes"]["ApproximateNumberOfMessages"])


@pytest.fixture(params=["search", "moto"])
def queues(request: pytest.FixtureRequest) -> Iterator[WorldOfQueues]:
    if request.param == "search":
        yield Searched()
        return
    with mock_aws():
        sqs = Sqs()
        with (
            patch("moto.sqs.models.unix_time_millis", lambda: float(sqs.now)),
            patch("moto.sqs.models.unix_time", lambda *_: sqs.now / 1000),
        ):
            yield sqs


def _received(queues: WorldOfQueues) -> Received:
    found = queues.receive()
    assert found is not None
    return found


def test_a_message_in_hand_is_brought_again_after_its_timeout(queues: WorldOfQueues) -> None:
    queues.send(FIRST)
    assert _received(queues)[:2] == (FIRST, 1)
    queues.wait(VISIBILITY_SECONDS - 1)
    assert queues.receive() is None
    queues.wait(2)
    assert _received(queues)[:2] == (FIRST, 2)


@pytest.mark.parametrize("seconds", [0, 5, 240])
def test_a_hidden_message_is_brought_when_its_pause_is_over(queues: WorldOfQueues, seconds: int) -> None:
    queues.send(FIRST)
    queues.hide(_received(queues)[2], seconds)
    if seconds:
        queues.wait(seconds - 1)
        assert queues.receive() is None
    queues.wait(2)
    assert _received(queues)[:2] == (FIRST, 2)


def test_a_deleted_message_is_gone_and_the_other_stays(queues: WorldOfQueues) -> None:
    queues.send(FIRST)
    queues.send(SECOND)
    text, _, handle = _received(queues)
    queues.delete(handle)
    other = _received(queues)
    assert {text, other[0]} == {FIRST, SECOND}
    queues.wait(VISIBILITY_SECONDS + 1)
    assert _received(queues)[:2] == (other[0], 2)
    assert queues.receive() is None


def test_a_message_that_was_received_too_often_is_a_dead_letter(queues: WorldOfQueues) -> None:
    queues.send(FIRST)
    for receives in range(1, MOST_RECEIVES + 1):
        text, count, handle = _received(queues)
        assert (text, count) == (FIRST, receives)
        queues.hide(handle, 0)
        queues.wait(1)
    assert queues.dead() == 0
    assert queues.receive() is None
    assert queues.dead() == 1
