"""The records table as the program makes it, for moto: with its sparse index of pending work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.adapters.pending_index import INDEX

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PROJECTED = (
    *("operation", "status", "eventId", "correlationId"),
    *("tenantId", "recordId", "requeuedAt", "requeues"),
)


def make_records_table(client: DynamoDBClient, name: str) -> None:
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "pendingShard", "AttributeType": "S"},
            {"AttributeName": "pendingSince", "AttributeType": "N"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": INDEX,
                "KeySchema": [
                    {"AttributeName": "pendingShard", "KeyType": "HASH"},
                    {"AttributeName": "pendingSince", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(PROJECTED)},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )
