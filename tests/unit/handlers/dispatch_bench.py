"""What `dispatch` works with, on moto: the records table, two tenants' topics with a subscribed queue, the
retry queue; and ways to break each of them."""

from __future__ import annotations

import io
import itertools
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import boto3
from aws_lambda_powertools import Logger
from moto.sqs.models import sqs_backends

from handlers.adapters.parking import RetryQueue
from handlers.adapters.records import DynamoDbRecords
from handlers.adapters.topics import SnsTopics
from handlers.adapters.work_queue import SqsWorkQueues
from handlers.dispatch import Dependencies, dispatch
from handlers.domain.errors import Unavailable
from handlers.domain.receipt import Outbox, Receipt
from handlers.settings import DispatchSettings
from tests import builders

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from handlers.dispatch import Records
    from handlers.domain.outbox import Delivery
    from handlers.domain.work_message import WorkMessage

REGION = "us-east-1"
STAGE = "dev"
RECORDS_TABLE = "onceward-dev_records"
TENANTS = ("acme", "bluebird")
LAG_MS = 1_500
_LOGGERS = itertools.count()


class Killed(BaseException):
    """The process is gone: nothing that catches Exception may see it."""


@dataclass
class FailingTopics:
    """Topics that raise for some tenants, and pass everybody else's events on."""

    topics: SnsTopics
    errors: Mapping[str, BaseException]

    def publish(self, delivery: Delivery, event: str) -> None:
        if delivery.tenant_id in self.errors:
            raise self.errors[delivery.tenant_id]
        self.topics.publish(delivery, event)


@dataclass
class FailingRecords:
    """A records table that does not answer for some tenants, and takes everybody else's records."""

    records: Records
    tenants: frozenset[str]

    def write(self, delivery: Delivery) -> str | None:
        if delivery.tenant_id in self.tenants:
            raise Unavailable("records", "ThrottlingException")
        return self.records.write(delivery)


@dataclass
class Failing:
    """A table or a queue that always raises; it counts how often it was asked."""

    error: BaseException
    calls: int = 0

    def write(self, delivery: Delivery) -> str | None:
        self.calls += 1
        raise self.error

    def send(self, message: WorkMessage) -> None:
        self.calls += 1
        raise self.error

    def park(self, image: Mapping[str, Any], error: str, parked_at_ms: int) -> None:
        self.calls += 1
        raise self.error

    def back_off(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self.calls += 1
        raise self.error


class Bench:
    """Use inside `mock_aws()`."""

    def __init__(self, *, partial_failures: bool = True) -> None:
        self._dynamodb = boto3.client("dynamodb", region_name=REGION)
        self._sns = boto3.client("sns", region_name=REGION)
        self._sqs = boto3.client("sqs", region_name=REGION)
        self._dynamodb.create_table(
            TableName=RECORDS_TABLE,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        self._retry_queue = self._sqs.create_queue(QueueName="onceward-dev_dispatch-retry")["QueueUrl"]
        self._work_queues = {
            name: self._sqs.create_queue(QueueName=f"onceward-dev_{name}")["QueueUrl"]
            for name in ("orders", "webhooks")
        }
        self._audit_queues = {tenant: self._subscribed_topic(tenant) for tenant in TENANTS}
        prefix = f"arn:aws:sns:{REGION}:123456789012:onceward-{STAGE}-"
        self._log = io.StringIO()
        self.topics = SnsTopics(prefix, self._sns)
        self.dependencies = Dependencies(
            settings=DispatchSettings(
                STAGE, RECORDS_TABLE, prefix, self._retry_queue, self._work_queues, partial_failures
            ),
            records=DynamoDbRecords(RECORDS_TABLE, self._dynamodb, lambda: builders.NOW_MS + LAG_MS),
            work_queues=SqsWorkQueues(self._work_queues, self._sqs),
            topics=self.topics,
            parking=RetryQueue(self._retry_queue, self._sqs),
            # Powertools keeps one handler a service name for the whole process: a name of our own.
            logger=Logger(service=f"dispatch-{next(_LOGGERS)}", level="INFO", stream=self._log),
            clock_ms=lambda: builders.NOW_MS + LAG_MS,
        )

    def dispatch(
        self, event: Mapping[str, Any], *, remaining_ms: Callable[[], int] = lambda: 30_000, **replaced: Any
    ) -> Any:
        """Invoke the function, with some of what it works with replaced."""
        return dispatch(event, replace(self.dependencies, **replaced), remaining_ms)

    def records(self) -> list[dict[str, Any]]:
        """Every item of the records table."""
        items: list[dict[str, Any]] = list(self._dynamodb.scan(TableName=RECORDS_TABLE)["Items"])
        return items

    def put_record(self, item: dict[str, Any]) -> None:
        """Write an item as somebody else would."""
        self._dynamodb.put_item(TableName=RECORDS_TABLE, Item=item)

    def published(self, tenant: str = "acme") -> list[str]:
        """The events on the tenant's topic, oldest first, as a subscriber with raw delivery gets them."""
        return self._drain(self._audit_queues[tenant])

    def parked(self) -> list[dict[str, Any]]:
        """What waits on the retry queue."""
        return [json.loads(body) for body in self._drain(self._retry_queue)]

    def retry_batch(self) -> dict[str, Any]:
        """What waits on the retry queue, as Lambda brings it."""
        records = [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "eventSource": "aws:sqs",
            }
            for message in self._messages(self._retry_queue)
        ]
        return {"Records": records}

    def hidden_for(self, record: Mapping[str, Any]) -> float:
        """For how many seconds from now a message of the retry queue is hidden (moto's own books)."""
        backend = sqs_backends["123456789012"][REGION]
        queue = backend.queues[self._retry_queue.rpartition("/")[2]]
        [message] = [one for one in queue._messages if one.id == record["messageId"]]
        return message.visible_at / 1000 - time.time()

    def queued(self, operation: str) -> list[dict[str, Any]]:
        """The messages on an operation's queue of work, with their attributes."""
        return self._messages(self._work_queues[operation])

    def another_records_table(self, name: str) -> DynamoDbRecords:
        """The adapter, pointed at another table."""
        return DynamoDbRecords(name, self._dynamodb)

    def remove_topic(self, tenant: str) -> None:
        """Delete a tenant's topic."""
        self._sns.delete_topic(TopicArn=f"{self.dependencies.settings.topic_arn_prefix}{tenant}")

    def log_lines(self) -> list[dict[str, Any]]:
        """What was logged, parsed."""
        return [json.loads(line) for line in self._log.getvalue().splitlines()]

    def _subscribed_topic(self, tenant: str) -> str:
        topic = self._sns.create_topic(Name=f"onceward-{STAGE}-{tenant}")["TopicArn"]
        queue: str = self._sqs.create_queue(QueueName=f"onceward-{STAGE}-{tenant}_audit")["QueueUrl"]
        queue_arn = f"arn:aws:sqs:{REGION}:123456789012:onceward-{STAGE}-{tenant}_audit"
        self._sns.subscribe(
            TopicArn=topic, Protocol="sqs", Endpoint=queue_arn, Attributes={"RawMessageDelivery": "true"}
        )
        return queue

    def _drain(self, queue_url: str) -> list[str]:
        return [message["Body"] for message in self._messages(queue_url)]

    def _messages(self, queue_url: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while messages := self._sqs.receive_message(
            QueueUrl=queue_url,
            MaxNumberOfMessages=10,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        ).get("Messages"):
            found += messages
        return found


def accepted(number: int, tenant: str = "acme", **changes: Any) -> Receipt:
    """A receipt as `ingest` leaves it, with ids and document of its own."""
    record_id = f"01R{number:023d}"
    document = json.dumps({"id": record_id, "lead": {"name": f"Ada {number}", "note": "für 1e400 Ünicode"}})
    outbox = Outbox(f"01E{number:023d}", "lead.created", record_id, document)
    base = builders.receipt(
        tenant_id=tenant,
        key=f"key-{number}",
        created_at=builders.NOW_MS,
        correlation_id=f"correlation-{number}",
        outbox=outbox,
    )
    return replace(base, **changes)


def event_ids(events: list[str]) -> list[str]:
    """The ids of published events."""
    return [json.loads(event)["id"] for event in events]


def event_id(receipt: Receipt) -> str:
    assert receipt.outbox is not None
    return receipt.outbox.event_id


def emf(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if '"_aws"' in line]
