"""What the platform stored and published, read as administrator after the fact."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.e2e.api import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.platform_fixture import RunningPlatform

# Empty reads in a row, 50 ms apart, before a queue counts as quiet: many times what a second publish of the
# same batch could come late.
_QUIET_READS = 40


def items_of(platform: RunningPlatform, table: str, keys: set[str]) -> list[dict[str, Any]]:
    """Every item of a table under one of `keys`."""
    return [item for item in _scan(platform, table) if item["pk"]["S"] in keys]


def marked(platform: RunningPlatform, table: str, attribute: str, mark: str) -> list[dict[str, Any]]:
    """Every item of a table whose document (`attribute`) holds the mark, whatever its id."""
    return _scan(
        platform,
        table,
        FilterExpression=f"contains({attribute}, :mark)",
        ExpressionAttributeValues={":mark": {"S": mark}},
    )


def hear(
    platform: RunningPlatform,
    tenant: str,
    leads: set[str],
    *,
    also: Callable[[dict[str, Any]], bool] = lambda event: False,
) -> dict[str, set[str]]:
    """Read the tenant's audit queue until every lead was heard of and nothing more comes.

    Returns lead id -> its event ids, for `leads` and for every event that `also` picks.
    """
    sqs, url = platform.client("sqs"), platform.outputs.tenants[tenant].audit_queue_url
    heard: dict[str, set[str]] = {}
    empty = 0

    def quiet() -> bool:
        nonlocal empty
        batch = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        for message in batch:
            event = json.loads(message["Body"])
            if event["subject"] in leads or also(event):
                heard.setdefault(event["subject"], set()).add(event["id"])
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        empty = 0 if batch else empty + 1
        return set(heard) >= leads and empty >= _QUIET_READS

    eventually(quiet, seconds=60)
    return heard


def _scan(platform: RunningPlatform, table: str, **more: Any) -> list[dict[str, Any]]:
    paginator = platform.client("dynamodb").get_paginator("scan")
    pages = paginator.paginate(TableName=platform.outputs.tables[table], ConsistentRead=True, **more)
    return [item for page in pages for item in page["Items"]]
