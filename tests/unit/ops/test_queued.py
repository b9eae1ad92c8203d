"""What `down` tells of work that is not done yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3
from moto import mock_aws

from ops.local.emulator import Endpoint, free_port
from ops.local.queued import queued, told

if TYPE_CHECKING:
    import pytest


def test_what_the_queues_of_work_hold_is_counted_whether_it_waits_or_is_in_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # moto answers for AWS's own address.
    monkeypatch.setattr(Endpoint, "url", "https://sqs.us-east-1.amazonaws.com")
    endpoint = Endpoint(1, "AKIA", "secret")
    with mock_aws():
        sqs = boto3.client("sqs", region_name="us-east-1")
        urls = [
            sqs.create_queue(QueueName=f"onceward-local_{name}")["QueueUrl"]
            for name in ("orders", "webhooks", "dispatch-retry", "orders-dlq")
        ]
        assert queued(endpoint, "us-east-1", "local") == 0
        for url in urls:
            sqs.send_message(QueueUrl=url, MessageBody="{}")
        sqs.receive_message(QueueUrl=urls[0])
        assert queued(endpoint, "us-east-1", "local") == 3


def test_an_emulator_that_does_not_answer_holds_nobody_up() -> None:
    assert queued(Endpoint(free_port(), "AKIA", "secret"), "us-east-1", "local") == 0


def test_one_piece_of_work_is_no_pieces() -> None:
    assert told(1) == "1 piece of work (orders, webhooks) not done yet: goes on after the next `up`."
    assert told(1_200).startswith("1,200 pieces of work (orders, webhooks) not done yet: go on ")
