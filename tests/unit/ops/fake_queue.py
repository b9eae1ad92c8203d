"""A dead-letter queue with a clock of its own, which can be told to hand out and to refuse what SQS may."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from infra.naming import Names
from ops.dead_letters import DeadLetters

if TYPE_CHECKING:
    from collections.abc import Iterator


def throttled() -> ClientError:
    """What the whole call may be answered."""
    return ClientError({"Error": {"Code": "RequestThrottled", "Message": "slow down"}}, "Batch")


@dataclass
class FakeQueue:
    """In the place of boto3's client, for one queue of `count` messages, the ids of which are `0`, `1` ...

    Attributes:
        now: its clock, in seconds.
        again: for each receive to come, ids that it hands out although they are hidden (once more, then).
        refusals: for each batch call to come, what it raises; None for none.
        failing: per id, the code by which a batch call says that it did not change it.
        received: how often each message was handed out.
    """

    count: int
    now: float = 0.0
    again: Iterator[list[str]] = field(default_factory=lambda: iter(()))
    refusals: Iterator[Exception | None] = field(default_factory=lambda: iter(()))
    failing: dict[str, str] = field(default_factory=dict)
    received: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._visible_at = {str(number): 0.0 for number in range(self.count)}

    @property
    def letters(self) -> DeadLetters:
        """It, as the commands see it."""
        client: Any = self
        return DeadLetters(client, Names("local"), "orders-dlq")

    @property
    def visible(self) -> set[str]:
        """Ids of what anybody could receive now."""
        return {name for name, at in self._visible_at.items() if at <= self.now}

    def get_queue_url(self, **_options: Any) -> dict[str, Any]:
        return {"QueueUrl": "url"}

    def get_queue_attributes(self, **_options: Any) -> dict[str, Any]:
        return {"Attributes": {"ApproximateNumberOfMessages": str(len(self._visible_at))}}

    def receive_message(self, **options: Any) -> dict[str, Any]:
        most, seconds = options["MaxNumberOfMessages"], options["VisibilityTimeout"]
        names = next(self.again, None) or sorted(self.visible, key=int)[:most]
        for name in names:
            self._visible_at[name] = self.now + seconds
            self.received[name] = self.received.get(name, 0) + 1
        body = json.dumps({"tenantId": "acme", "recordId": "R", "eventId": "E"})
        messages = [
            {"MessageId": name, "ReceiptHandle": name, "Body": body, "Attributes": {"SentTimestamp": "1"}}
            for name in names
        ]
        return {"Messages": messages} if messages else {}

    def change_message_visibility_batch(self, **options: Any) -> dict[str, Any]:
        refusal = next(self.refusals, None)
        if refusal is not None:
            raise refusal
        failed = []
        for entry in options["Entries"]:
            name = entry["ReceiptHandle"]
            if name in self.failing:
                failed.append({"Id": entry["Id"], "Code": self.failing[name], "SenderFault": False})
            elif name in self._visible_at:
                self._visible_at[name] = self.now + entry["VisibilityTimeout"]
        return {"Successful": [], "Failed": failed} if failed else {"Successful": []}

    def delete_message(self, **options: Any) -> None:
        self._visible_at.pop(options["ReceiptHandle"], None)
