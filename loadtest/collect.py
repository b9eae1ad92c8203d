"""Reads what a run left behind: items of the tables by key, and whatever of the run is anywhere in them."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import boto3
from boto3.dynamodb.types import TypeDeserializer

from loadtest import stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from loadtest.stored import AuditEvent
    from loadtest.target import Target, TargetTenant

# The most keys of one BatchGetItem, and messages of one ReceiveMessage, that AWS allows.
_BATCH_KEYS = 100
_BATCH_MESSAGES = 10


class Tables:
    """The two tables of a stage. Reads are strongly consistent: what was acknowledged is seen."""

    def __init__(self, target: Target) -> None:
        self._dynamodb = boto3.Session().client("dynamodb", **target.client_options())
        self._receipts, self._records = target.receipts_table, target.records_table
        self._plain = TypeDeserializer().deserialize

    def receipts(self, pks: Iterable[str]) -> dict[str, stored.StoredReceipt]:
        """The receipts that are stored under these keys, by key."""
        return {item["pk"]: stored.receipt(item) for item in self._get(self._receipts, pks)}

    def records(self, pks: Iterable[str]) -> dict[str, stored.StoredRecord]:
        """The records that are stored under these keys, by key."""
        return {item["pk"]: stored.record(item) for item in self._get(self._records, pks)}

    def all_receipts(self, mark: str) -> dict[str, stored.StoredReceipt]:
        """Every receipt with `mark` in its key or its document, whoever's it is. Scans the table."""
        where = {
            "FilterExpression": "contains(#pk, :mark) OR contains(#outbox.#document, :mark)",
            "ExpressionAttributeNames": {"#pk": "pk", "#outbox": "outbox", "#document": "document"},
        }
        return {item["pk"]: stored.receipt(item) for item in self._scan(self._receipts, mark, where)}

    def all_records(self, mark: str) -> dict[str, stored.StoredRecord]:
        """Every record with `mark` in its document, whoever's it is. Scans the table."""
        where = {
            "FilterExpression": "contains(#document, :mark)",
            "ExpressionAttributeNames": {"#document": "document"},
        }
        return {item["pk"]: stored.record(item) for item in self._scan(self._records, mark, where)}

    def _get(self, table: str, pks: Iterable[str]) -> Iterator[dict[str, Any]]:
        wanted = [{"pk": {"S": pk}} for pk in pks]
        while wanted:
            batch, wanted = wanted[:_BATCH_KEYS], wanted[_BATCH_KEYS:]
            answer = self._dynamodb.batch_get_item(
                RequestItems={table: {"Keys": batch, "ConsistentRead": True}}
            )
            left: list[Any] = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
            wanted += left
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
    """The audit queues of a run's tenants, and the file that keeps what was taken off them."""

    def __init__(self, target: Target, tenants: Iterable[TargetTenant], mark: str, file: Path) -> None:
        """`mark` is in every event of the run; others' messages are left in the queue."""
        self._sqs = boto3.Session().client("sqs", **target.client_options())
        self._queues = {one.tenant_id: one.audit_queue_url for one in tenants if one.audit_queue_url}
        self._complete = all(one.audit_queue_url for one in tenants)
        self._mark = mark
        self._file = file
        self._writing = threading.Lock()

    @property
    def complete(self) -> bool:
        """Every tenant of the run has an audit queue; else nothing can be said about events."""
        return bool(self._queues) and self._complete

    def drain(self, wait_seconds: int) -> int:
        """Take the run's messages off the queues, into the file.

        A message is in the file before it is deleted, so that none is lost between the two; one that is
        delivered twice is the same event again, which is allowed.

        Args:
            wait_seconds: how long to wait for a first message of each queue (SQS long polling, at most 20).

        Returns:
            how many were taken.
        """
        if not self._queues:
            return 0
        with ThreadPoolExecutor(max_workers=len(self._queues)) as pool:  # a client may be shared by threads
            drains = [pool.submit(self._drain, *queue, wait_seconds) for queue in self._queues.items()]
        return sum(drain.result() for drain in drains)

    def _drain(self, tenant: str, url: str, wait_seconds: int) -> int:
        taken = 0
        while messages := self._receive(url, wait_seconds):
            ours = [message for message in messages if self._mark in message["Body"]]
            with self._writing, self._file.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(_line(tenant, message)) + "\n" for message in ours)
            if ours:
                entries = [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(ours)]
                self._sqs.delete_message_batch(QueueUrl=url, Entries=entries)
            taken += len(ours)
            wait_seconds = 0
        return taken

    def _receive(self, url: str, wait_seconds: int) -> list[Any]:
        answer = self._sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=_BATCH_MESSAGES,
            WaitTimeSeconds=wait_seconds,
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


def read_events(file: Path) -> Iterator[AuditEvent]:
    """Yield the events that were taken off the queues; none when the file does not exist."""
    if file.exists():
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                values = json.loads(line)
                yield stored.event(values["queueTenant"], values["body"], values["attributes"])
