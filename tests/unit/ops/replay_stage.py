"""`onceward dispatch replay` on moto: a local stage with its tables, retry queue, bucket and `dispatch`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
from typer.testing import CliRunner

from handlers.adapters.receipt_item import to_item
from handlers.adapters.records import DynamoDbRecords
from handlers.domain.outbox import delivery_of
from ops.commands.dispatch import app
from tests.unit.handlers.dispatch_bench import RECORDS_TABLE, Bench

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

    from handlers.domain.receipt import Receipt

RECEIPTS_TABLE = "onceward-local_receipts"
BUCKET = "onceward-local-failures-123456789012-us-east-1"


class Stage:
    """A local stage on moto: its tables, its retry queue, and `dispatch`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.bench = Bench()
        self.dynamodb = boto3.client("dynamodb", region_name="us-east-1")
        self.sqs = boto3.client("sqs", region_name="us-east-1")
        self.dynamodb.create_table(
            TableName=RECEIPTS_TABLE,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        self.queue_url = self.sqs.create_queue(QueueName="onceward-local_dispatch-retry")["QueueUrl"]
        self.s3 = boto3.client("s3", region_name="us-east-1")
        self.s3.create_bucket(Bucket=BUCKET)
        tables = {"receipts": RECEIPTS_TABLE, "records": RECORDS_TABLE, "tenants": "x"}
        tenants = {
            "acme": {"keys": {"server": "k"}},
            "bluebird": {"keys": {"server": "k"}, "status": "suspended"},
        }
        outputs = {"apiUrl": "x", "region": "us-east-1", "stage": "local", "tables": tables}
        outputs["tenants"] = tenants
        (home / "local.json").write_text(json.dumps(outputs), encoding="utf-8")

    def put(self, receipt: Receipt, *, recorded: bool = False) -> None:
        self.dynamodb.put_item(TableName=RECEIPTS_TABLE, Item=to_item(receipt))
        if recorded:
            DynamoDbRecords(RECORDS_TABLE, self.dynamodb).write(delivery_of(receipt))

    def replay(self, *arguments: str) -> Result:
        return CliRunner().invoke(
            app, ["replay", "--home", str(self.home), *arguments], env={"COLUMNS": "200", "TERM": "dumb"}
        )

    def counts(self, *arguments: str) -> dict[str, Any]:
        result = self.replay("--json", *arguments)
        assert result.exit_code == 0, result.output
        counted: dict[str, Any] = json.loads(result.stdout)
        return counted

    def bodies(self) -> list[str]:
        found: list[str] = []
        while messages := self.sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10).get(
            "Messages"
        ):
            found += [message["Body"] for message in messages]
        return found

    def give_up(self, name: str, content: Any) -> None:
        """Write an object to the failure bucket, as Lambda does."""
        self.s3.put_object(Bucket=BUCKET, Key=name, Body=json.dumps(content).encode())

    def given_up(self) -> list[str]:
        """The names of the objects in the failure bucket."""
        return [one["Key"] for one in self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]
