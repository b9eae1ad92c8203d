"""`reconcile`, over an index of pending work that holds anything."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fuzz.batches import NOW, Outside
from fuzz.choices import split
from fuzz.quiet import logger, quietly
from fuzz.stored import attributes_in, changed, images
from fuzz.target import Target, require
from handlers import reconcile
from handlers.adapters import pending_index, records
from handlers.domain.outbox import delivery_of
from handlers.settings import ReconcileSettings
from tests import builders
from tests.fakes.work import InMemoryWork

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.outbox import Delivery
    from handlers.reconcile import Shard

_LOG = logger("reconcile")
# What a message of work is made of.
_OF_WORK = ("tenantId", "operation", "recordId", "eventId", "correlationId")


class _Index(InMemoryWork):
    """One order that is pending, under an index of which some items may be another's, or nobody's."""

    def __init__(self, items: Sequence[Mapping[str, Any]]) -> None:
        super().__init__()
        self.write(_order())
        self._index = pending_index.DynamoDbPending("records", self)  # type: ignore[arg-type] # `query` alone
        self._items = items
        self.page = self._index.page  # type: ignore[method-assign] # the real reader over these items

    def query(self, **_asked: object) -> dict[str, Any]:
        """Every shard's page is the same."""
        return {"Items": list(self._items)}


def _order() -> Delivery:
    return delivery_of(builders.receipt(operation="orders"))


def pending_order() -> dict[str, Any]:
    """An item of the index: the order that waits for its worker."""
    return dict(records.to_item(_order(), _order().created_at))


def check_reconcile(items: Sequence[Mapping[str, Any]], now_ms: int) -> None:
    """One run over an index that holds anything: it ends, and what it cannot read it tells of."""
    outside = Outside()
    outside.write(_order())
    index = _Index(items)
    dependencies = reconcile.Dependencies(
        ReconcileSettings("dev", "records", {}), index, outside, _LOG, lambda: now_ms, _in_order
    )
    with quietly():
        try:
            tallies = reconcile.reconcile(dependencies, lambda: 40_000)
        except reconcile.ReconcileFailed:
            require(not all(map(_readable, items)), "failed, though every item can be read")
            require(len(outside.sent) <= 1, "sent twice within a period")
            return
    require(len(outside.sent) <= 1, "sent twice within a period")
    require(all(map(_readable, items)), "an item that nobody can read was passed over")
    require(sum(tally.failed for tally in tallies.values()) == 0, "failed, and nobody heard of it")


def _readable(item: Mapping[str, Any]) -> bool:
    """Whether an item of the index says which work it is, and since when, read a second time."""
    counts = [item.get("pendingSince", {}).get("N")]
    if item.get("requeuedAt"):
        counts.append(item["requeuedAt"].get("N"))
    counts.append(item.get("requeues", {}).get("N", "0"))
    try:
        list(map(int, counts))
    except (TypeError, ValueError):
        return False
    return all("S" in item.get(name, {}) for name in _OF_WORK)


def _in_order(shards: tuple[Shard, ...]) -> list[Shard]:
    return list(shards)


def _check_pending(data: bytes) -> None:
    choices, payload = split(data)
    items = [changed(choices, attributes_in(payload) or pending_order()) for _ in range(choices.number(3))]
    check_reconcile(items, NOW + choices.pick((0, 3_600_000, 10**9)))


# One item as it is, when it is an hour old; and one of the table that is no pending work.
TARGET = Target(
    "pending",
    _check_pending,
    lambda: [b"\n", b"\x01\x00\x01\n", b"\x01\n" + json.dumps(images()[3]).encode()],
)
