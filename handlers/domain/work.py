"""Queued work that follows from an acceptance: which operations have it, and the status of its record."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from handlers.domain.json_text import compact

if TYPE_CHECKING:
    from collections.abc import Mapping

# Work that is pending is found by an index whose partition would otherwise be one per operation, and DynamoDB
# gives a partition 1,000 writes a second (its developer guide, "partitions"): eight are ample, and the
# reconciler asks each of them once a minute.
PENDING_SHARDS: Final = 8


@dataclass(frozen=True)
class Work:
    """An operation's work.

    Attributes:
        queue: the platform's queue.
        waiting, running, done, failed: the record's status on its way.
        announces: whether the worker tells of it (on the event bus) when it is done; of all others `dispatch`
            tells on the tenant's topic at once.
    """

    operation: str
    queue: str
    waiting: str
    running: str
    done: str
    failed: str
    announces: bool


ORDERS: Final = Work("orders", "orders", "ACCEPTED", "PROCESSING", "COMPLETED", "FAILED", announces=True)
WEBHOOKS: Final = Work("webhooks", "webhooks", "RECEIVED", "RECEIVED", "DELIVERED", "FAILED", announces=False)
BY_OPERATION: Final[Mapping[str, Work]] = {work.operation: work for work in (ORDERS, WEBHOOKS)}


def pending_shard(operation: str, record_id: str) -> str:
    """`orders#3`: the partition of the index of pending work that a record is in."""
    number = int.from_bytes(sha256(record_id.encode()).digest()[:2], "big") % PENDING_SHARDS
    return f"{operation}#{number}"


def pending_shards(operation: str) -> tuple[str, ...]:
    """Every partition of the index of pending work of an operation."""
    return tuple(f"{operation}#{number}" for number in range(PENDING_SHARDS))


def with_status(document: str, status: str) -> str:
    """A record's JSON text with how far its work is as its last member, the rest letter for letter."""
    return f'{document.rstrip().removesuffix("}")},"status":{compact(status)}}}'
