"""What `ops.replay.Replay` asks DynamoDB, as calls of the scheduler's ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handlers.adapters.receipt_item import to_item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handlers.domain.receipt import Receipt
    from proof.programs import Ask


class AskingReceiptsClient:
    """The three calls of a DynamoDB client, for a replay of all tenants and all times.

    tests/unit/proof/test_asking_client.py runs the real `Replay` on it and on moto.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def get_paginator(self, name: str) -> AskingReceiptsClient:
        """The pages of a scan: there is one."""
        assert name == "scan"
        return self

    def paginate(self, **asked: object) -> Iterator[dict[str, Any]]:
        """The receipts with an outbox, whole."""
        assert asked["FilterExpression"] == "attribute_exists(outboxId) AND createdAt >= :since"
        assert asked["ExpressionAttributeValues"] == {":since": {"N": "0"}}
        yield {"Items": [to_item(receipt) for receipt in self._receipts()]}

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803 - boto3's
        """Which records there are."""
        [(table, asked)] = RequestItems.items()
        places = tuple(tuple(key["pk"]["S"].split("#", 1)) for key in asked["Keys"])
        found = self._ask("records", "look", places)
        return {"Responses": {table: [{"pk": {"S": "#".join(place)}} for place in found]}}

    def get_item(self, *, Key: dict[str, Any], **_: object) -> dict[str, Any]:  # noqa: N803 - boto3's
        """One receipt."""
        items = [to_item(receipt) for receipt in self._receipts()]
        found = [item for item in items if item["pk"] == Key["pk"]]
        return {"Item": found[0]} if found else {}

    def _receipts(self) -> tuple[Receipt, ...]:
        receipts: tuple[Receipt, ...] = self._ask("receipts", "scan")
        return receipts
