"""Sending dead letters back to where they came from: sent first, then deleted, so that none is ever lost."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from handlers.domain.keys import partition_key
from ops.letters import UNKNOWN, event_in

if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_sqs import SQSClient

    from ops.dead_letters import DeadLetters
    from ops.letters import Letter

_CONDITION_FAILED: Final = "ConditionalCheckFailedException"


@dataclass(frozen=True, slots=True)
class Redriven:
    """How many were sent, and how many others could not be made visible again (for minutes)."""

    sent: int
    hidden: int


class RedriveStopped(Exception):
    """A letter could not be sent or deleted; the message says which and why. It, and all others, are kept."""

    def __init__(self, one: Letter, reason: str, sent: int) -> None:
        super().__init__(f"message {one.message_id} of tenant {one.tenant_id}: {reason}")
        self.sent = sent


class NotTaken(Exception):
    """The destination answered, and did not take the letter."""


class Destination(Protocol):
    """Where letters go back to."""

    def takes(self, one: Letter) -> bool:
        """Whether the letter holds what can be sent there at all."""

    def send(self, one: Letter) -> None:
        """Send it. Raises ClientError, BotoCoreError or NotTaken."""


@dataclass(frozen=True)
class QueueDestination:
    """The queue that the letters came from: body and attributes as they were."""

    client: SQSClient
    url: str

    def takes(self, one: Letter) -> bool:  # noqa: ARG002 - a queue takes any body
        """See `Destination`."""
        return True

    def send(self, one: Letter) -> None:
        """See `Destination`."""
        attributes: Any = one.attributes
        # The group is the tenant (fair queues): one tenant's letters do not hold up the others' work.
        group = one.group_id or (one.tenant_id if one.tenant_id != UNKNOWN else None)
        grouped: Any = {} if group is None else {"MessageGroupId": group}
        self.client.send_message(
            QueueUrl=self.url, MessageBody=one.body, MessageAttributes=attributes, **grouped
        )


@dataclass(frozen=True)
class BusDestination:
    """The event bus, for what its rule's target did not take: same source, type and detail."""

    client: EventBridgeClient
    bus: str

    def takes(self, one: Letter) -> bool:
        """See `Destination`."""
        return event_in(one.body) is not None

    def send(self, one: Letter) -> None:
        """See `Destination`."""
        event = event_in(one.body)
        if event is None:
            raise NotTaken("it holds no event of the bus")
        answer = self.client.put_events(
            Entries=[
                {
                    "EventBusName": self.bus,
                    "Source": event.source,
                    "DetailType": event.detail_type,
                    "Detail": event.detail,
                }
            ]
        )
        # PutEvents answers 200 and says for each entry whether it was taken.
        if answer["FailedEntryCount"]:
            [entry] = answer["Entries"]
            raise NotTaken(f"{entry.get('ErrorCode')}: {entry.get('ErrorMessage')}")


class Marks:
    """Writes on a record that it was sent back: nothing else would tell `receipts explain` of it."""

    def __init__(self, client: DynamoDBClient, records_table: str) -> None:
        self._client = client
        self._table = records_table

    def mark(self, one: Letter, now_ms: int) -> None:
        """Count the redrive on the letter's record, if there is one."""
        if one.record_id is None or one.tenant_id == UNKNOWN:
            return
        try:
            self._client.update_item(
                TableName=self._table,
                Key={"pk": {"S": partition_key(one.tenant_id, one.record_id)}},
                UpdateExpression="SET redrivenAt = :now ADD redrives :one",
                # A parked dispatch has no record yet, and must not get an empty one.
                ConditionExpression="attribute_exists(pk)",
                ExpressionAttributeValues={":now": {"N": str(now_ms)}, ":one": {"N": "1"}},
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != _CONDITION_FAILED:
                raise


class Pace:
    """At most `per_second` letters a second."""

    def __init__(
        self,
        per_second: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._gap = 1 / per_second
        self._clock = clock
        self._sleep = sleep
        self._next = clock()

    def wait(self) -> None:
        """Return when the next letter may go."""
        ahead = self._next - self._clock()
        if ahead > 0:
            self._sleep(ahead)
        self._next = max(self._next, self._clock()) + self._gap


def redrive(
    queue: DeadLetters,
    wanted: Set[str],
    destination: Destination,
    marks: Marks,
    pace: Pace,
    tell: Callable[[int], None],
) -> Redriven:
    """Send back the letters whose message ids are `wanted`, and say how many there were.

    By id and not by tenant or age once more: what fails again at once and comes back meanwhile is another
    message, so that a run ends. Letters that somebody else has taken meanwhile are passed over.

    Raises:
        RedriveStopped: at the first one that fails. It may have been sent, and is still in the queue.
    """
    sent = 0
    with queue.held() as held:
        for one in held.letters():
            if one.message_id not in wanted:
                continue
            pace.wait()
            now_ms = time.time_ns() // 1_000_000
            try:
                destination.send(one)
                # Not before: a record that says it was sent back has to be right, whatever fails then.
                marks.mark(one, now_ms)
                held.delete(one)
            except (BotoCoreError, ClientError, NotTaken) as error:
                raise RedriveStopped(one, str(error), sent) from error
            sent += 1
            tell(sent)
            if sent == len(wanted):
                break
    return Redriven(sent, held.still_hidden)
