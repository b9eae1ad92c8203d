"""Ids that follow from the claim, so that every attempt of one window makes the same ones."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from ulid import ULID

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt

# A ULID is 48 bits of time and 80 of randomness (github.com/ulid/spec).
_RANDOM_BYTES = 10
_TIME_BYTES = 6
_DOWNSTREAM_DIGITS = 40


def record_id(tenant_id: str, key: str, generation: str, created_at_ms: int) -> str:
    """The business object's id (a ULID): time from `created_at_ms`, randomness from the generation."""
    return _ulid("record", tenant_id, key, generation, created_at_ms)


def record_id_of(receipt: Receipt) -> str:
    """The id of the business object of a receipt: the one that it will have, of a claim in progress."""
    if receipt.outbox is not None:
        return receipt.outbox.record_id
    return record_id(receipt.tenant_id, receipt.key, receipt.generation, receipt.created_at)


def event_id(tenant_id: str, key: str, generation: str, created_at_ms: int) -> str:
    """The event's id (a ULID): the same for every delivery of one acceptance, new for every window."""
    return _ulid("event", tenant_id, key, generation, created_at_ms)


def downstream_key(tenant_id: str, key: str, generation: str) -> str:
    """The idempotency key for an effect's destination: 160 bits as hex digits, which every destination takes.

    The same for every attempt of one window, so that a repeated attempt is no second effect; new for every
    window, so that a key used again is a new request there too.
    """
    return sha256(_seed("downstream", tenant_id, key, generation)).hexdigest()[:_DOWNSTREAM_DIGITS]


def created_at_ms(ulid: str) -> int | None:
    """The time (ms since the epoch) in a ULID, or None when the text is not one in canonical spelling."""
    try:
        parsed = ULID.from_str(ulid)
    except ValueError:
        return None
    return parsed.milliseconds if str(parsed) == ulid else None


def _ulid(purpose: str, tenant_id: str, key: str, generation: str, created_at_ms: int) -> str:
    randomness = sha256(_seed(purpose, tenant_id, key, generation)).digest()[:_RANDOM_BYTES]
    return str(ULID.from_bytes(created_at_ms.to_bytes(_TIME_BYTES, "big") + randomness))


def _seed(*parts: str) -> bytes:
    # Joined by a character that none of them can hold.
    return "\n".join(parts).encode()
