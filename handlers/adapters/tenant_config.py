"""The registry of tenants by their id: one GetItem a minute and environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.adapters.timed_cache import TimedCache
from handlers.domain.tenant_config import from_item, partition_key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from handlers.domain.tenant_config import TenantConfig


class DynamoDbTenantConfigs:
    """`TenantConfigs` on DynamoDB. Unknown tenants are remembered like known ones."""

    def __init__(
        self,
        table: str,
        client: DynamoDBClient | None = None,
        cache: TimedCache[TenantConfig | None] | None = None,
    ) -> None:
        self._table = table
        self._client: DynamoDBClient = client or boto3.client("dynamodb", config=CLIENT_CONFIG)
        self._cache: TimedCache[TenantConfig | None] = TimedCache() if cache is None else cache

    @property
    def reads(self) -> int:
        """See `TenantConfigs.reads`."""
        return self._cache.reads

    def find(self, tenant_id: str) -> TenantConfig | None:
        """See `TenantConfigs.find`."""
        return self._cache.get(tenant_id, lambda: self._read(tenant_id))

    def detailed(self, tenant_id: str) -> bool:
        """Whether a tenant has its metrics in detail. No call: False for one that was not asked for yet."""
        known = self._cache.peek(tenant_id)
        return known is not None and known.detailed_metrics

    def _read(self, tenant_id: str) -> TenantConfig | None:
        with translated("tenants"):
            # Not strongly consistent, unlike the authorizer's read: what is read is believed for a minute at
            # the most, and replicas are behind by less than a second.
            answer = self._client.get_item(
                TableName=self._table, Key={"pk": {"S": partition_key(tenant_id)}}, ConsistentRead=False
            )
        item = answer.get("Item")
        return None if item is None else from_item(item)
