"""What a destination is sent for a record, and what its answer means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from handlers.domain.errors import CorruptItem, OncewardError
from handlers.domain.json_text import parsed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.outbound import Answer
    from handlers.domain.outbox import Delivery
    from handlers.domain.tenant_config import Destination, TenantConfig

_SUCCESSES: Final = range(200, 300)
_PLACEHOLDER: Final = "{id}"
# An id that is one of these would be another path (RFC 3986 section 5.2.4), however it is escaped.
_DOTS: Final = frozenset({"", ".", ".."})


class NotConfigured(OncewardError):
    """The tenant, or the source of the event, is not in the registry any more: nobody says where it goes."""


class SecretUnreadable(NotConfigured):
    """The tenant's secret is there and may not be read: under another key, say. No other tenant's fault."""


class DestinationRefused(OncewardError):
    """The destination answered, and not with a success."""


@dataclass(frozen=True, slots=True)
class Addressee:
    """Where a record goes. `secret`: the name of the bearer token that is sent along, if there is one."""

    destination: Destination
    external_id: str
    secret: str


@dataclass(frozen=True)
class Upsert:
    """One request; every attempt at a record makes the same one, so that repeating it changes nothing."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


def addressee_of_webhook(delivery: Delivery, config: TenantConfig | None) -> Addressee | None:
    """Where an event goes, by its source; None where the tenant's topic is all that hears of it.

    A suspended tenant's events are delivered all the same: they were accepted before.

    Raises:
        NotConfigured: see there.
        CorruptItem: the record is no event.
    """
    source, event_id = _member(delivery, "source"), _member(delivery, "eventId")
    if config is None or source not in config.webhooks:
        raise NotConfigured(f"tenant {delivery.tenant_id} has no source {source} in the registry")
    destination = config.webhooks[source].destination
    if destination is None:
        return None
    return Addressee(destination, event_id, f"destinations/webhooks/{source}")


def addressee_of_order(delivery: Delivery, config: TenantConfig | None) -> Addressee | None:
    """Where an order goes before the event bus hears of it; None where that is all. Raises NotConfigured."""
    if config is None:
        raise NotConfigured(f"tenant {delivery.tenant_id} is not in the registry")
    destination = config.orders_destination
    if destination is None:
        return None
    return Addressee(destination, delivery.record_id, "destinations/orders")


def upsert(delivery: Delivery, addressee: Addressee, secrets: Sequence[str]) -> Upsert:
    """The request for a record. `secrets`: newest first; the newest is the one that is sent.

    Raises:
        CorruptItem: the external id cannot be part of a path, and has to be.
    """
    headers = {
        "Content-Type": "application/json",
        # On every attempt the same, whatever the method: a destination can tell a repeat by it.
        "Idempotency-Key": delivery.event_id,
        "X-Correlation-Id": delivery.correlation_id,
    }
    if secrets:
        headers["Authorization"] = f"Bearer {secrets[0]}"
    url = addressee.destination.url
    if _PLACEHOLDER in url:
        if addressee.external_id in _DOTS:
            raise CorruptItem("the event's id cannot be part of a path")
        url = url.replace(_PLACEHOLDER, quote(addressee.external_id, safe=""))
    return Upsert(addressee.destination.method, url, headers, delivery.document.encode())


def check(answer: Answer) -> None:
    """Raise DestinationRefused unless the destination took it. A redirect is not followed, so it did not."""
    if answer.status not in _SUCCESSES:
        raise DestinationRefused(f"the destination answered {answer.status}")


def _member(delivery: Delivery, name: str) -> str:
    try:
        document: Any = parsed(delivery.document)
        value = document[name]
    except (ValueError, KeyError, TypeError):
        raise CorruptItem(f"a record of {delivery.operation} has no {name}") from None
    if not isinstance(value, str):
        raise CorruptItem(f"a record of {delivery.operation} has no {name}")
    return value
