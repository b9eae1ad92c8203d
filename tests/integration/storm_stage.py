"""Tables and queues of a stage on moto, for tests of what reads them after a storm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3

from loadtest.collect import AuditQueues
from loadtest.target import parse

if TYPE_CHECKING:
    from pathlib import Path

MARK = "storm-abc123-"
REGION = "eu-central-1"


class Stage:
    """Tables and queues of a stage on moto, and how the platform would fill them."""

    def __init__(self) -> None:
        self.dynamodb = boto3.client("dynamodb", region_name=REGION)
        self.sqs = boto3.client("sqs", region_name=REGION)
        for table in ("receipts", "records", "tenants"):
            self.dynamodb.create_table(
                TableName=table,
                BillingMode="PAY_PER_REQUEST",
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            )
        self.queues = {name: self.sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("a1", "b1")}
        self.target = parse(self._outputs())

    def _outputs(self) -> dict[str, Any]:
        return {
            "apiUrl": "http://127.0.0.1:1",
            "region": REGION,
            "stage": "dev",
            "tables": {"receipts": "receipts", "records": "records", "tenants": "tenants"},
            "tenants": {
                name: {"keys": {"k": "v"}, "topicArn": "arn", "auditQueueUrl": url, "synthetic": True}
                for name, url in self.queues.items()
            },
        }

    def receipt(self, pk: str, number: int, mark: str = MARK, operation: str = "leads") -> None:
        outbox = {"recordId": {"S": f"record-{number}"}, "document": {"S": _document(mark, number)}}
        response = {"status": {"N": "201"}, "headers": {"M": {"ETag": {"S": "e"}}}, "body": {"S": "{}"}}
        item = {
            "pk": {"S": pk},
            "tenantId": {"S": pk.partition("#")[0]},
            "operation": {"S": operation},
            "status": {"S": "COMPLETED"},
            "outboxId": {"S": f"event-{number}"},
            "outbox": {"M": outbox},
            "response": {"M": response},
        }
        self.dynamodb.put_item(TableName="receipts", Item=item)

    def refusal(self, pk: str, status: int, problem: str) -> None:
        """A payment that was refused for good: nothing follows."""
        body = {"S": json.dumps({"type": problem})}
        item = {
            "pk": {"S": pk},
            "tenantId": {"S": pk.partition("#")[0]},
            "operation": {"S": "payments"},
            "status": {"S": "COMPLETED"},
            "response": {"M": {"status": {"N": str(status)}, "headers": {"M": {}}, "body": body}},
        }
        self.dynamodb.put_item(TableName="receipts", Item=item)

    def unfinished(self, pk: str) -> None:
        """A receipt whose request is not answered, and that names neither record nor event."""
        item = {"pk": {"S": pk}, "tenantId": {"S": pk.partition("#")[0]}, "status": {"S": "IN_PROGRESS"}}
        self.dynamodb.put_item(TableName="receipts", Item=item)

    def record(
        self,
        tenant: str,
        number: int,
        mark: str = MARK,
        operation: str = "leads",
        status: str | None = None,
    ) -> None:
        item = {
            "pk": {"S": f"{tenant}#record-{number}"},
            "tenantId": {"S": tenant},
            "recordId": {"S": f"record-{number}"},
            "eventId": {"S": f"event-{number}"},
            "document": {"S": _document(mark, number)},
            "operation": {"S": operation},
            **({"status": {"S": status}} if status else {}),
        }
        self.dynamodb.put_item(TableName="records", Item=item)

    def publish(self, tenant: str, number: int, mark: str = MARK, event_id: str | None = None) -> None:
        event = {
            "id": event_id or f"event-{number}",
            "subject": f"record-{number}",
            "source": f"/onceward/dev/{tenant}",
        }
        body = json.dumps({**event, "data": json.loads(_document(mark, number))})
        attributes = {"tenantId": tenant, "eventId": f"event-{number}"}
        self.sqs.send_message(
            QueueUrl=self.queues[tenant],
            MessageBody=body,
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()
            },
        )

    def waiting(self, tenant: str) -> int:
        """Messages in a queue, seen or not."""
        names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        got = self.sqs.get_queue_attributes(QueueUrl=self.queues[tenant], AttributeNames=names)
        return sum(int(value) for value in got["Attributes"].values())

    def audit(self, file: Path) -> AuditQueues:
        return AuditQueues(self.target, self.target.tenants.values(), MARK, file)


def _document(mark: str, number: int) -> str:
    return json.dumps({"id": f"record-{number}", "lead": {"reference": f"{mark}{number}/0"}})
