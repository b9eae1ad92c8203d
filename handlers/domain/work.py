"""Queued work that follows from an acceptance: which operations have it, and the status of its record."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# Work that is pending is found by an index whose partition would otherwise be one per operation, and DynamoDB
# gives a partition 1,000 writes a second (its developer guide, "partitions"): eight are ample, and the
# reconciler asks each of them once a minute.
PENDING_SHARDS: Final = 8


@dataclass(frozen=True)
class Work:
    """An operation's work. `queue` is the platform's queue; the others are the record's status on its way."""

    operation: str
    queue: str
    waiting: str
    running: str
    done: str
    failed: str


ORDERS: Final = Work("orders", "orders", "ACCEPTED", "PROCESSING", "COMPLETED", "FAILED")
WEBHOOKS: Final = Work("webhooks", "webhooks", "RECEIVED", "RECEIVED", "DELIVERED", "FAILED")
BY_OPERATION: Final[Mapping[str, Work]] = {work.operation: work for work in (ORDERS, WEBHOOKS)}


def pending_shard(operation: str, record_id: str) -> str:
    """`orders#3`: the partition of the index of pending work that a record is in."""
    number = int.from_bytes(sha256(record_id.encode()).digest()[:2], "big") % PENDING_SHARDS
    return f"{operation}#{number}"


def pending_shards(operation: str) -> tuple[str, ...]:
    """Every partition of the index of pending work of an operation."""
    return tuple(f"{operation}#{number}" for number in range(PENDING_SHARDS))
