"""The receipts table, read: what became of a key. Accepting a request never reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.adapters.receipt_item import from_item
from handlers.domain.keys import partition_key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from handlers.domain.receipt import Receipt


class DynamoDbReceiptReader:
    """Single receipts, by tenant and key."""

    def __init__(self, table: str, client: DynamoDBClient | None = None) -> None:
        self._table = table
        self._client: DynamoDBClient = client or boto3.client("dynamodb", config=CLIENT_CONFIG)

    def find(self, tenant_id: str, key: str) -> Receipt | None:
        """The receipt of this tenant's key, or None when the key was never used (or is long forgotten).

        Raises:
            Unavailable, Refused: the table cannot be read.
            CorruptItem: the item is no receipt.
        """
        with translated("receipts"):
            answer = self._client.get_item(
                TableName=self._table,
                Key={"pk": {"S": partition_key(tenant_id, key)}},
                # Asked after a timeout, "nobody knows this key" invites the caller to go on with a new one:
                # a replica that lags must not say it.
                ConsistentRead=True,
            )
        item = answer.get("Item")
        return None if item is None else from_item(item)
