"""Hears every event on the bus beside the platform's own rule, into a queue that outlives the local AWS.

The local bus tries a rule's function once, without the retries and the dead-letter queue of the real one, and
drops what is on its way when it is stopped (docs/not-proved-locally.md). What it lost can then be told from
what the platform never put there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import boto3

from infra.naming import Names

if TYPE_CHECKING:
    from loadtest.target import Target

_NAME: Final = "chaos-witness"
# ReceiveMessage gives ten at most (SQS API reference).
_BATCH: Final = 10


class Witness:
    """A rule of its own on the platform's bus, and the queue behind it."""

    def __init__(self, target: Target) -> None:
        """Make both. Raises ClientError or BotoCoreError."""
        session = boto3.Session()
        options = target.client_options()
        self._sqs: Any = session.client("sqs", **options)
        events: Any = session.client("events", **options)
        names = Names(target.stage)
        bus, name = names.platform("orders"), names.platform(_NAME)
        self._url: str = self._sqs.create_queue(QueueName=name)["QueueUrl"]
        answer = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])
        arn = answer["Attributes"]["QueueArn"]
        self._allow(arn)
        pattern = json.dumps({"source": [f"onceward.{target.stage}"]})
        events.put_rule(Name=name, EventBusName=bus, EventPattern=pattern)
        events.put_targets(Rule=name, EventBusName=bus, Targets=[{"Id": _NAME, "Arn": arn}])
        self._event_ids: set[str] = set()

    def event_ids(self) -> frozenset[str]:
        """The ids of all events that were on the bus until now."""
        while True:
            answer = self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=_BATCH)
            messages = answer.get("Messages", [])
            if not messages:
                return frozenset(self._event_ids)
            for one in messages:
                self._event_ids.add(_event_id(json.loads(one["Body"])["detail"]))
                self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=one["ReceiptHandle"])

    def _allow(self, arn: str) -> None:
        statement = {
            "Effect": "Allow",
            "Principal": {"Service": "events.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": arn,
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self._sqs.set_queue_attributes(QueueUrl=self._url, Attributes={"Policy": policy})


def _event_id(detail: dict[str, Any]) -> str:
    """The id of the CloudEvent that a detail carries, as an object or as text (`onceward` puts either)."""
    event = detail["event"]
    return str((json.loads(event) if isinstance(event, str) else event)["id"])
