"""From a change of the receipts table to what has to be delivered for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from handlers.domain.caller import TENANT_ID
from handlers.domain.errors import CorruptItem, OncewardError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.receipt import Receipt


# Issue 3, webhooks: "Retention 30 days". Nobody asked for an end of other operations' records.
_KEPT_SECONDS: Final = {"webhooks": 30 * 24 * 60 * 60}


class DispatchConflict(OncewardError):
    """The record's id is taken by another event: two acceptances made one id, so neither may overwrite."""


class Announced(Protocol):
    """What a topic has to know of an event beside its text."""

    @property
    def tenant_id(self) -> str:
        """Whose topic."""

    @property
    def type(self) -> str:
        """Such as ``lead.created``."""

    @property
    def event_id(self) -> str:
        """The same on every delivery."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One acceptance on its way out.

    `document` is the record as JSON text, delivered byte for byte; `created_at` is in ms since the epoch,
    `purge_at` in SECONDS: when TTL may delete the record, None for never.
    """

    tenant_id: str
    operation: str
    event_id: str
    type: str
    record_id: str
    document: str
    correlation_id: str
    created_at: int
    purge_at: int | None = None


def is_due(new_image: Mapping[str, Any] | None, old_image: Mapping[str, Any] | None) -> bool:
    """Whether a change of a receipt put a new outbox in it (images as DynamoDB JSON).

    An insert does; so does an overwrite of an expired receipt, or a completion, where the old image had
    another `outboxId` or none. A removal, an eviction or a moved lease does not.
    """
    new, old = (new_image or {}).get("outboxId"), (old_image or {}).get("outboxId")
    return new is not None and new != old


def delivery_of(receipt: Receipt) -> Delivery:
    """What `receipt` asks to be delivered.

    Raises:
        CorruptItem: it has no outbox, or a tenant id that could name another tenant's topic.
    """
    if receipt.outbox is None:
        raise CorruptItem("a receipt on its way out has no outbox")
    if not TENANT_ID.fullmatch(receipt.tenant_id):
        raise CorruptItem("a receipt on its way out has no tenant id")
    return Delivery(
        tenant_id=receipt.tenant_id,
        operation=receipt.operation,
        event_id=receipt.outbox.event_id,
        type=receipt.outbox.type,
        record_id=receipt.outbox.record_id,
        document=receipt.outbox.document,
        correlation_id=receipt.correlation_id,
        created_at=receipt.created_at,
        purge_at=_purge_at(receipt),
    )


def _purge_at(receipt: Receipt) -> int | None:
    kept = _KEPT_SECONDS.get(receipt.operation)
    if kept is None:
        return None
    # Not before its receipt, whose answer names it, and from which `dispatch replay` would write it anew.
    return max(receipt.created_at // 1000 + kept, receipt.purge_at)
