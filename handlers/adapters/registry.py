"""The registry of tenants' API keys: one GetItem, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.domain.registry_entry import from_item, partition_key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from handlers.domain.registry_entry import KeyEntry


class DynamoDbRegistry:
    """The tenants table, by API key."""

    def __init__(self, table: str, client: DynamoDBClient | None = None) -> None:
        self._table = table
        self._client: DynamoDBClient = client or boto3.client("dynamodb", config=CLIENT_CONFIG)

    def find(self, api_key: str) -> KeyEntry | None:
        """The entry of the key with this value, or None when nobody has it.

        Raises:
            Unavailable: the table cannot say.
            Refused: the table may not be read (a fault of the deployment).
            CorruptItem: the entry is malformed.
        """
        with translated("tenants"):
            answer = self._client.get_item(
                TableName=self._table,
                Key={"pk": {"S": partition_key(api_key)}},
                # Strongly consistent: the gateway keeps the verdict for minutes, so a replica that is 100 ms
                # behind a new key or a suspension would be believed for minutes. Half a read unit per key and
                # cache time is what it costs.
                ConsistentRead=True,
            )
        item = answer.get("Item")
        return None if item is None else from_item(item)
