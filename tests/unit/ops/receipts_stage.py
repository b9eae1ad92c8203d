"""`onceward receipts` on moto: a local stage with its tables, logs and dead-letter queues."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import boto3
from typer.testing import CliRunner

from handlers.adapters.receipt_item import to_item
from ops.commands.receipts import app
from ops.dead_letters import SOURCES
from tests import builders

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

    from handlers.domain.receipt import Receipt

NOW_MS = time.time_ns() // 1_000_000
RECEIPTS_TABLE, RECORDS_TABLE = "onceward-local_receipts", "onceward-local_records"


class ReceiptsStage:
    """Use inside `mock_aws()`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.dynamodb = boto3.client("dynamodb", region_name="us-east-1")
        self._logs = boto3.client("logs", region_name="us-east-1")
        self._sqs = boto3.client("sqs", region_name="us-east-1")
        for table in (RECEIPTS_TABLE, RECORDS_TABLE):
            self.dynamodb.create_table(
                TableName=table,
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        outputs = {
            "apiUrl": "x",
            "region": "us-east-1",
            "stage": "local",
            "tables": {"receipts": RECEIPTS_TABLE, "records": RECORDS_TABLE, "tenants": "x"},
            "tenants": {"acme": {"keys": {"server": "k"}}},
        }
        (home / "local.json").write_text(json.dumps(outputs), encoding="utf-8")

    def put(self, receipt: Receipt) -> None:
        self.dynamodb.put_item(TableName=RECEIPTS_TABLE, Item=to_item(receipt))

    def put_record(self, record_id: str, **numbers_and_texts: int | str) -> None:
        item: dict[str, Any] = {
            name: {"N": str(value)} if isinstance(value, int) else {"S": value}
            for name, value in numbers_and_texts.items()
        }
        written: dict[str, Any] = {
            "pk": {"S": f"acme#{record_id}"},
            "recordId": {"S": record_id},
            "eventId": {"S": "01E"},
            "correlationId": {"S": "c-1"},
            "createdAt": {"N": str(NOW_MS)},
            "document": {"S": '{"payload":1}'},
        }
        self.dynamodb.put_item(TableName=RECORDS_TABLE, Item=item | written)

    def item(self, tenant: str, key: str) -> Any:
        found = self.dynamodb.get_item(TableName=RECEIPTS_TABLE, Key={"pk": {"S": f"{tenant}#{key}"}})
        return found.get("Item")

    def make_queues(self) -> None:
        for name in SOURCES:
            self._sqs.create_queue(QueueName=f"onceward-local_{name}")

    def dead_letter(self, queue: str, body: object) -> None:
        url = self._sqs.get_queue_url(QueueName=f"onceward-local_{queue}")["QueueUrl"]
        self._sqs.send_message(QueueUrl=url, MessageBody=json.dumps(body))

    def log(self, function: str, *lines: object) -> None:
        """Lines of a function, a second apart, from now on."""
        group = f"/aws/lambda/onceward-local_{function}"
        self._logs.create_log_group(logGroupName=group)
        self._logs.create_log_stream(logGroupName=group, logStreamName="s")
        self._logs.put_log_events(
            logGroupName=group,
            logStreamName="s",
            logEvents=[
                {"timestamp": NOW_MS + 1_000 * place, "message": json.dumps(line)}
                for place, line in enumerate(lines)
            ],
        )

    def receipts(self, *arguments: str, typed: str | None = None) -> Result:
        return CliRunner().invoke(
            app,
            [*arguments, "--home", str(self.home)],
            input=typed,
            env={"COLUMNS": "200", "TERM": "dumb"},
        )


def accepted_receipt(**changes: Any) -> Receipt:
    """A completed receipt of now, its window open for an hour."""
    times = {"created_at": NOW_MS, "expires_at": NOW_MS + builders.HOUR_MS}
    return builders.receipt(**times | changes)
