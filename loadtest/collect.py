"""Reads what a run left behind: items of the tables by key, and whatever of the run is anywhere in them."""

from __future__ import annotations

import json
import os
import threading
import time
from array import array
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from heapq import merge
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

import boto3
from boto3.dynamodb.types import TypeDeserializer

from loadtest import stored
from loadtest.run import open_private
from loadtest.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from loadtest.stored import AuditEvent
    from loadtest.target import Target, TargetTenant

# The most keys of one BatchGetItem, and messages of one ReceiveMessage, that AWS allows.
_BATCH_KEYS = 100
_BATCH_MESSAGES = 10
# Keys that DynamoDB left unread (throttled, or an answer of over 16 MB) are asked for again after a pause
# that doubles, as AWS asks: from one that a burst needs, to one that a deadline still allows several of.
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.05, 5.0
# Nothing at all for so long is a table that will not answer.
_READ_SECONDS = 60.0
# A queue is asked for no longer than this without one message of the run: others may write faster than it is
# read. What is others' is hidden for longer than that, so that one pass meets each message once.
_FOREIGN_SECONDS = 20.0
_HIDDEN_SECONDS = 60
# Queues that are read at once: as many as a botocore client has connections.
_MOST_THREADS = 10
# Of the other tenants' queues: long polling asks all of SQS's servers, short polling only some.
_SWEEP_WAIT_SECONDS = 1
# Lines of events that are in memory at a time: some 10 MB.
_LINES_AT_ONCE = 4096


class Tables:
    """The two tables of a stage. Reads are strongly consistent: what was acknowledged is seen."""

    def __init__(self, target: Target) -> None:
        self._dynamodb = boto3.Session().client("dynamodb", **target.client_options())
        self._receipts, self._records = target.receipts_table, target.records_table
        self._plain = TypeDeserializer().deserialize

    def touch(self) -> None:
        """Make each kind of read once, of next to nothing: raises ClientError or BotoCoreError."""
        for table in (self._receipts, self._records):
            self._dynamodb.scan(TableName=table, Limit=1, ConsistentRead=True)
            list(self._get(table, ["nobody#nothing"]))

    def receipts(self, pks: Iterable[str]) -> dict[str, stored.StoredReceipt]:
        """The receipts that are stored under these keys, by key."""
        return {item["pk"]: stored.receipt(item) for item in self._get(self._receipts, pks)}

    def records(self, pks: Iterable[str]) -> dict[str, stored.StoredRecord]:
        """The records that are stored under these keys, by key."""
        return {item["pk"]: stored.record(item) for item in self._get(self._records, pks)}

    def all_receipts(self, mark: str) -> Iterator[stored.StoredReceipt]:
        """Every receipt with `mark` in its key or its document, whoever's it is. Scans the table."""
        where = {
            "FilterExpression": "contains(#pk, :mark) OR contains(#outbox.#document, :mark)",
            "ExpressionAttributeNames": {"#pk": "pk", "#outbox": "outbox", "#document": "document"},
        }
        return map(stored.receipt, self._scan(self._receipts, mark, where))

    def all_records(self, mark: str) -> Iterator[stored.StoredRecord]:
        """Every record with `mark` in its document, whoever's it is. Scans the table."""
        where = {
            "FilterExpression": "contains(#document, :mark)",
            "ExpressionAttributeNames": {"#document": "document"},
        }
        return map(stored.record, self._scan(self._records, mark, where))

    def _get(self, table: str, pks: Iterable[str]) -> Iterator[dict[str, Any]]:
        # BatchGetItem refuses a key that is in it twice.
        wanted = [{"pk": {"S": pk}} for pk in dict.fromkeys(pks)]
        pause, last = _FIRST_PAUSE_SECONDS, time.monotonic()
        while wanted:
            batch, wanted = wanted[:_BATCH_KEYS], wanted[_BATCH_KEYS:]
            answer = self._dynamodb.batch_get_item(
                RequestItems={table: {"Keys": batch, "ConsistentRead": True}}
            )
            left: list[Any] = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
            wanted += left
            if len(left) < len(batch):
                pause, last = _FIRST_PAUSE_SECONDS, time.monotonic()
            elif time.monotonic() - last > _READ_SECONDS:
                raise TargetError(f"table {table} gave none of {len(left)} items in {_READ_SECONDS:.0f} s")
            if left:
                time.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
            yield from map(self._item, answer["Responses"].get(table, []))

    def _scan(self, table: str, mark: str, where: dict[str, Any]) -> Iterator[dict[str, Any]]:
        pages = self._dynamodb.get_paginator("scan").paginate(
            TableName=table,
            ConsistentRead=True,
            ExpressionAttributeValues={":mark": {"S": mark}},
            **where,
        )
        for page in pages:
            yield from map(self._item, page["Items"])

    def _item(self, item: dict[str, Any]) -> dict[str, Any]:
        return {name: self._plain(value) for name, value in item.items()}


class AuditQueues:
    """The audit queues of a stage, and the file that keeps what was taken off them."""

    def __init__(self, target: Target, tenants: Iterable[TargetTenant], mark: str, file: Path) -> None:
        """`tenants` are the run's; `mark` is in each of its events. Others' messages are left in the queue.

        A line that was cut off at the end of the file is dropped: its message is still in its queue.
        """
        self._sqs = boto3.Session().client("sqs", **target.client_options())
        self._queues = {one.tenant_id: one.audit_queue_url for one in tenants if one.audit_queue_url}
        self._complete = all(one.audit_queue_url for one in tenants)
        self._mark = mark
        self._others = {name: url for name, url in target.audit_queues.items() if name not in self._queues}
        self._file = file
        _drop_cut_off_line(file)
        self._writing = threading.Lock()

    @property
    def complete(self) -> bool:
        """Every tenant of the run has an audit queue; else nothing can be said about events."""
        return bool(self._queues) and self._complete

    def drain(self, wait_seconds: int) -> int:
        """Take the run's messages off the queues of its tenants, into the file.

        A message is in the file before it is deleted, so that none is lost between the two; one that is
        delivered twice is the same event again, which is allowed.

        Args:
            wait_seconds: how long to wait for a first message of each queue (SQS long polling, at most 20).

        Returns:
            how many were taken.
        """
        return self._drain_all(self._queues, wait_seconds)

    def sweep(self) -> int:
        """The same of all other tenants' queues, where nothing of the run belongs. How many were taken."""
        return self._drain_all(self._others, _SWEEP_WAIT_SECONDS)

    def in_flight(self) -> int:
        """About how many messages of the run's queues are hidden: somebody took them, and may have died."""
        names = ["ApproximateNumberOfMessagesNotVisible"]
        answers = (
            self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)
            for url in self._queues.values()
        )
        return sum(int(answer["Attributes"][names[0]]) for answer in answers)

    def _drain_all(self, queues: Mapping[str, str], wait_seconds: int) -> int:
        with ThreadPoolExecutor(max_workers=_MOST_THREADS) as pool:  # a client may be shared by threads
            drains = [pool.submit(self._drain, *queue, wait_seconds) for queue in queues.items()]
        return sum(drain.result() for drain in drains)

    def _drain(self, tenant: str, url: str, wait_seconds: int) -> int:
        taken, foreign = 0, []
        last = time.monotonic()
        try:
            while time.monotonic() - last < _FOREIGN_SECONDS:
                messages = self._receive(url, wait_seconds)
                if not messages:
                    break
                ours = [message for message in messages if self._mark in message["Body"]]
                foreign += [one["ReceiptHandle"] for one in messages if self._mark not in one["Body"]]
                if ours:
                    self._keep(tenant, url, ours)
                    last = time.monotonic()
                taken += len(ours)
                wait_seconds = 0
        finally:
            self._release(url, foreign)
        return taken

    def _keep(self, tenant: str, url: str, messages: list[Any]) -> None:
        with self._writing, open_private(self._file, "a") as file:
            file.writelines(json.dumps(_line(tenant, message)) + "\n" for message in messages)
        entries = [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(messages)]
        self._sqs.delete_message_batch(QueueUrl=url, Entries=entries)

    def _release(self, url: str, handles: list[str]) -> None:
        """Let others see their messages at once; one that cannot be released comes back by itself."""
        for start in range(0, len(handles), _BATCH_MESSAGES):
            batch = handles[start : start + _BATCH_MESSAGES]
            entries = [
                {"Id": str(n), "ReceiptHandle": handle, "VisibilityTimeout": 0}
                for n, handle in enumerate(batch)
            ]
            self._sqs.change_message_visibility_batch(QueueUrl=url, Entries=entries)

    def _receive(self, url: str, wait_seconds: int) -> list[Any]:
        answer = self._sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=_BATCH_MESSAGES,
            WaitTimeSeconds=wait_seconds,
            VisibilityTimeout=_HIDDEN_SECONDS,
            MessageAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))


def _line(tenant: str, message: dict[str, Any]) -> dict[str, Any]:
    attributes = message.get("MessageAttributes", {})
    return {
        "queueTenant": tenant,
        "body": message["Body"],
        "attributes": {name: value.get("StringValue", "") for name, value in attributes.items()},
    }


def _drop_cut_off_line(file: Path) -> None:
    if not file.exists():
        return
    with file.open("rb") as lines:
        # A line at a time: the file of a long run is no thing to hold.
        whole = sum(len(line) for line in lines if line.endswith(b"\n"))
    if whole < file.stat().st_size:
        os.truncate(file, whole)


class EventIds:
    """The ids of the events in a file that grows. Of each it keeps 8 bytes: enough to know it again."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read = 0  # bytes
        self._known = array("Q")  # sorted

    def __contains__(self, event_id: str | None) -> bool:
        digest = _digest(event_id or "")
        at = bisect_left(self._known, digest)
        return at < len(self._known) and self._known[at] == digest

    def look(self) -> None:
        """Read what is new in the file; a last line without its end is left for the next look."""
        if not self._file.exists():
            return
        with self._file.open("rb") as lines:
            lines.seek(self._read)
            whole = takewhile(lambda line: line.endswith(b"\n"), lines)
            while some := list(islice(whole, _LINES_AT_ONCE)):
                self._read += sum(map(len, some))
                new = sorted(_digest(stored.event_id(json.loads(line)["body"])) for line in some)
                self._known = array("Q", merge(self._known, new))


def _digest(event_id: str) -> int:
    return int.from_bytes(blake2b(event_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def read_events(file: Path) -> Iterator[AuditEvent]:
    """Yield the events that were taken off the queues; none when the file does not exist.

    A last line without its end was cut off with its writer, and its message never deleted: it is skipped.
    """
    if file.exists():
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                if not line.endswith("\n"):
                    return
                values = json.loads(line)
                yield stored.event(values["queueTenant"], values["body"], values["attributes"])
