"""Deliveries twice, late and out of order: of the receipts stream, and of the queues of work."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, Final

import boto3
from boto3.dynamodb.types import Binary
from botocore.config import Config

from infra.naming import ALIAS, WORK_QUEUES, Names
from ops.local.queued import RETRY_QUEUE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from loadtest.target import Target

# A queue that delays: what is sent after that ends is handed out first. With 5 s a run of
# 200 requests had no such message now and then; a queue gets one every few seconds there.
DELAY_SECONDS: Final = 15
# The platform hides a message for six times its worker's timeout, as AWS advises: 12 minutes, which no run
# can wait for. So much is longer than nearly every invocation; where it is not, the message comes twice.
_HIDDEN_SECONDS: Final = 45
# Of the stream's records, as many as are handed out again at one occasion, in batches of at most ten: the
# mapping's own batches begin and end elsewhere.
_COPIES: Final = 40
_MOST_IN_BATCH: Final = 10


class Disorder:
    """What is delivered wrongly but allowed: at least once, in no order."""

    def __init__(self, target: Target, seed: int) -> None:
        session = boto3.Session()
        # Nothing is tried twice: what is injected is counted, and the local AWS may be down meanwhile.
        once = Config(retries={"total_max_attempts": 1})
        options = target.client_options()
        options["config"] = options["config"].merge(once)
        self._client: Callable[[str], Any] = lambda name: session.client(name, **options)
        self._names = Names(target.stage)
        self._table = target.receipts_table
        self._seed = seed

    def bring_back_soon(self) -> None:
        """What a worker took and died with comes back to its queue within a minute, and not in twelve."""
        sqs = self._client("sqs")
        for name in (*WORK_QUEUES, RETRY_QUEUE):
            url = sqs.get_queue_url(QueueName=self._names.platform(name))["QueueUrl"]
            sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(_HIDDEN_SECONDS)})

    def delay_queues(self, seconds: int) -> None:
        """Every queue of work holds back what is sent from now on for so long."""
        sqs = self._client("sqs")
        for name in WORK_QUEUES:
            url = sqs.get_queue_url(QueueName=self._names.platform(name))["QueueUrl"]
            sqs.set_queue_attributes(QueueUrl=url, Attributes={"DelaySeconds": str(seconds)})

    def parked(self) -> int:
        """How many records wait in dispatch's own queue. Raises ClientError or BotoCoreError."""
        sqs = self._client("sqs")
        counts = [f"ApproximateNumberOfMessages{one}" for one in ("", "NotVisible", "Delayed")]
        url = sqs.get_queue_url(QueueName=self._names.platform(RETRY_QUEUE))["QueueUrl"]
        answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=counts)
        return sum(int(answer["Attributes"][name]) for name in counts)

    def copy_stream(self, number: int, undelivered: Callable[[], Collection[str]]) -> Iterator[int]:
        """Hand some of the stream's records to dispatch again, shuffled and in other batches.

        None of `undelivered` (receipts' keys, asked for once the records are known): a stream does not bring
        again what it never brought, and a copy would hide that dispatch took for done what it had failed at.

        Yields the size of each batch that dispatch took. Raises ClientError or BotoCoreError.

        Which of them: chance from the seed and the occasion's number, over what is in the stream by now.
        """
        dice = random.Random(f"{self._seed}/{number}")  # noqa: S311 - a schedule, not a secret
        records = self._due_records()
        never = undelivered()
        records = [one for one in records if _key_of(one) not in never]
        chosen = dice.sample(records, min(_COPIES, len(records)))
        functions = self._client("lambda")
        while chosen:
            size = dice.randint(1, min(_MOST_IN_BATCH, len(chosen)))
            batch, chosen = chosen[:size], chosen[size:]
            # A batch that fails is not sent again: it is a copy, and the mapping brings its own again.
            answer = functions.invoke(
                FunctionName=self._names.platform("dispatch"),
                Qualifier=ALIAS,
                Payload=json.dumps({"Records": batch}, default=_plain).encode(),
            )
            # One that it failed (under faults of its own) was not delivered again.
            if "FunctionError" not in answer:
                yield len(batch)

    def _due_records(self) -> list[dict[str, Any]]:
        """The stream's records that its mapping's filter lets through (an image with an outbox)."""
        streams = self._client("dynamodbstreams")
        arn = self._client("dynamodb").describe_table(TableName=self._table)["Table"]["LatestStreamArn"]
        [shard] = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        iterator = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        found: list[dict[str, Any]] = []
        while iterator:
            page = streams.get_records(ShardIterator=iterator)
            found += [
                {**one, "eventSourceARN": arn}
                for one in page["Records"]
                if "outboxId" in one["dynamodb"].get("NewImage", {})
            ]
            iterator = page.get("NextShardIterator") if page["Records"] else None
        return found


def _key_of(record: dict[str, Any]) -> str:
    return str(record["dynamodb"]["Keys"]["pk"]["S"])


def _plain(value: object) -> object:
    """What JSON lacks: a time is seconds since the epoch in a stream's record."""
    if isinstance(value, Binary):
        raise TypeError("a receipt holds no bytes")
    return value.timestamp() if hasattr(value, "timestamp") else str(value)
