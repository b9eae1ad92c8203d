"""`onceward dlq` on moto: a local stage with its dead-letter queues, where they came from, and its bus."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
from typer.testing import CliRunner

from ops.commands.dlq import app

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

RECORDS_TABLE = "onceward-local_records"
BUS = "onceward-local_orders"
_QUEUES = ("orders", "webhooks", "dispatch-retry")
_DEAD = ("orders-dlq", "webhooks-dlq", "dispatch-dlq", "notify-dlq", "delivery-dlq")


class DlqStage:
    """Use inside `mock_aws()`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.sqs = boto3.client("sqs", region_name="us-east-1")
        self.dynamodb = boto3.client("dynamodb", region_name="us-east-1")
        self.urls = {name: self._queue(f"onceward-local_{name}") for name in (*_QUEUES, *_DEAD)}
        self._listen_to_the_bus()
        self.dynamodb.create_table(
            TableName=RECORDS_TABLE,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        outputs = {
            "apiUrl": "x",
            "region": "us-east-1",
            "stage": "local",
            "tables": {"receipts": "onceward-local_receipts", "records": RECORDS_TABLE, "tenants": "x"},
            "tenants": {"acme": {"keys": {"server": "k"}}, "bluebird": {"keys": {"server": "k"}}},
        }
        (home / "local.json").write_text(json.dumps(outputs), encoding="utf-8")

    def put(self, queue: str, body: object, **attributes: str) -> None:
        """Leave a message in a queue, as a redrive policy or a service would."""
        self.sqs.send_message(
            QueueUrl=self.urls[queue],
            MessageBody=body if isinstance(body, str) else json.dumps(body),
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()
            },
        )

    def put_work(self, number: int, tenant: str = "acme", queue: str = "orders-dlq") -> None:
        self.put(queue, work(number, tenant), tenantId=tenant, correlationId=f"correlation-{number}")

    def put_record(self, number: int, tenant: str = "acme") -> None:
        self.dynamodb.put_item(
            TableName=RECORDS_TABLE, Item={"pk": {"S": f"{tenant}#R{number}"}, "status": {"S": "FAILED"}}
        )

    def record(self, number: int, tenant: str = "acme") -> dict[str, Any] | None:
        answer = self.dynamodb.get_item(TableName=RECORDS_TABLE, Key={"pk": {"S": f"{tenant}#R{number}"}})
        found: dict[str, Any] | None = answer.get("Item")
        return found

    def dlq(self, *arguments: str, typed: str | None = None) -> Result:
        return CliRunner().invoke(
            app,
            [*arguments, "--home", str(self.home)],
            input=typed,
            env={"COLUMNS": "200", "TERM": "dumb"},
        )

    def answer(self, *arguments: str) -> Any:
        result = self.dlq(*arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def visible(self, queue: str) -> int:
        """How many messages anybody could receive now."""
        name: Any = "ApproximateNumberOfMessages"
        answer = self.sqs.get_queue_attributes(QueueUrl=self.urls[queue], AttributeNames=[name])
        return int(answer["Attributes"][name])

    def messages(self, queue: str) -> list[dict[str, Any]]:
        """Take everything out of a queue."""
        taken: list[dict[str, Any]] = []
        while received := self._receive(queue):
            taken += received
        return taken

    def on_the_bus(self) -> list[dict[str, Any]]:
        """The events that a rule of the bus has seen."""
        return [json.loads(message["Body"]) for message in self.messages("bus")]

    def _receive(self, queue: str) -> list[dict[str, Any]]:
        answer: Any = self.sqs.receive_message(
            QueueUrl=self.urls[queue],
            MaxNumberOfMessages=10,
            MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["All"],
        )
        found: list[dict[str, Any]] = answer.get("Messages", [])
        return found

    def _queue(self, name: str) -> str:
        url: str = self.sqs.create_queue(QueueName=name)["QueueUrl"]
        return url

    def _listen_to_the_bus(self) -> None:
        events = boto3.client("events", region_name="us-east-1")
        events.create_event_bus(Name=BUS)
        pattern = json.dumps({"source": [{"prefix": "onceward."}]})
        events.put_rule(Name="heard", EventBusName=BUS, EventPattern=pattern)
        self.urls["bus"] = self._queue("heard")
        arn = "arn:aws:sqs:us-east-1:123456789012:heard"
        events.put_targets(Rule="heard", EventBusName=BUS, Targets=[{"Id": "1", "Arn": arn}])


def work(number: int, tenant: str = "acme") -> dict[str, str]:
    """The body of a message of a work queue."""
    return {
        "tenantId": tenant,
        "operation": "orders",
        "recordId": f"R{number}",
        "eventId": f"E{number}",
    }


EVENT = {"id": "E1", "source": "/onceward/local/acme", "subject": "R1", "type": "order.completed"}
BUS_EVENT = {
    "version": "0",
    "id": "b",
    "source": "onceward.local",
    "detail-type": "order.completed",
    "detail": {"tenantId": "acme", "event": EVENT},
}
INVOCATION = {
    "version": "1.0",
    "requestContext": {"condition": "RetriesExhausted", "approximateInvokeCount": 3},
    "requestPayload": BUS_EVENT,
    "responsePayload": {"errorType": "Unavailable", "errorMessage": "not shown"},
}
