"""EventBridge's way with the platform's rule: it calls `notify` until a call succeeds.

The local bus calls it once, whatever comes of that, and forgets what is on its way when it is stopped
(docs/not-proved-locally.md). So the rule is switched off, and one with its own pattern fills a queue, which
outlives a stop; an event leaves it when `notify` has taken it. A `notify` that says it has and has not is
therefore found: nothing here sends an event again that was taken once.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from infra.naming import ALIAS, NOTIFY_RULE, Names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadtest.target import Target

_NAME: Final = "chaos-bus"
# ReceiveMessage gives ten at most (SQS API reference).
_BATCH: Final = 10
# Before a call that failed is made again. The real one waits for a minute first (Lambda, asynchronous
# calls), which no run has.
_AGAIN_SECONDS: Final = 8
# Nothing is tried twice unseen: it is this that tries again. Longer than a function of ours may run (30 s).
_ONCE: Final = Config(retries={"total_max_attempts": 1}, read_timeout=40)
# Between two looks at a queue that was empty, or an AWS that was not there.
_PAUSE_SECONDS: Final = 0.5


class Bus:
    """Delivers in a thread of its own, from `delivering` on.

    Attributes:
        delivered: events that `notify` took. again: calls that were made again after one that failed.
    """

    def __init__(self, target: Target) -> None:
        """Take the rule's place. Raises ClientError or BotoCoreError."""
        session = boto3.Session()
        options = target.client_options()
        options["config"] = options["config"].merge(_ONCE)
        self._sqs: Any = session.client("sqs", **options)
        self._lambda: Any = session.client("lambda", **options)
        self._names = Names(target.stage)
        self._url = self._queue()
        self._take_over(session.client("events", **options))
        self._ending = threading.Event()
        self.delivered = 0
        self.again = 0

    @contextmanager
    def delivering(self) -> Iterator[None]:
        """Deliver for the length of the block, also while the local AWS comes and goes."""
        thread = threading.Thread(target=self._deliver, name="bus")
        thread.start()
        try:
            yield
        finally:
            self._ending.set()
            thread.join()

    def waiting(self) -> int:
        """How many events were not taken yet. Raises ClientError or BotoCoreError."""
        counts = [f"ApproximateNumberOfMessages{one}" for one in ("", "NotVisible", "Delayed")]
        answer = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=counts)
        return sum(int(answer["Attributes"][name]) for name in counts)

    def deliver_some(self) -> int:
        """Call `notify` with what is due; how many events there were. Raises ClientError or BotoCoreError."""
        answer = self._sqs.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=_BATCH,
            AttributeNames=["ApproximateReceiveCount"],
        )
        messages = answer.get("Messages", [])
        for message in messages:
            self.again += int(message["Attributes"]["ApproximateReceiveCount"]) > 1
            called = self._lambda.invoke(
                FunctionName=self._names.platform("notify"), Qualifier=ALIAS, Payload=message["Body"].encode()
            )
            if "FunctionError" not in called:
                self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
                self.delivered += 1
        return len(messages)

    def _deliver(self) -> None:
        while not self._ending.is_set():
            try:
                if self.deliver_some():
                    continue
            except (BotoCoreError, ClientError):
                pass  # the local AWS is being restarted: what was not taken is in the queue
            self._ending.wait(_PAUSE_SECONDS)

    def _queue(self) -> str:
        name = self._names.platform(_NAME)
        hidden = {"VisibilityTimeout": str(_AGAIN_SECONDS)}
        return str(self._sqs.create_queue(QueueName=name, Attributes=hidden)["QueueUrl"])

    def _take_over(self, events: Any) -> None:  # noqa: ANN401 - boto3's client
        answer = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])
        arn = answer["Attributes"]["QueueArn"]
        statement = {
            "Effect": "Allow",
            "Principal": {"Service": "events.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": arn,
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self._sqs.set_queue_attributes(QueueUrl=self._url, Attributes={"Policy": policy})
        bus, own, rule = (self._names.platform(one) for one in ("orders", _NAME, NOTIFY_RULE))
        pattern = events.describe_rule(Name=rule, EventBusName=bus)["EventPattern"]
        events.put_rule(Name=own, EventBusName=bus, EventPattern=pattern)
        events.put_targets(Rule=own, EventBusName=bus, Targets=[{"Id": _NAME, "Arn": arn}])
        events.disable_rule(Name=rule, EventBusName=bus)
