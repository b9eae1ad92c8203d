"""`POST /v1/webhooks/{tenant}/{source}`: an event of a sender, kept and handed on once.

Its key and fingerprint are the event's own id, its body is whatever the sender makes of it, and a duplicate
is answered in its own fixed way (DESIGN section 3). `handlers.webhooks` does what comes before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from handlers.domain import canonical_json, keys
from handlers.domain.fingerprint import body_hash, fingerprint
from handlers.domain.identity import Identity
from handlers.domain.operation import AcceptOperation

if TYPE_CHECKING:
    from handlers.domain.json_text import JsonValue
    from handlers.domain.operation import Document


def _any_json(body: JsonValue) -> Document:
    return body if isinstance(body, dict) else {}


WEBHOOKS: Final = AcceptOperation(
    name="webhooks",
    # Of no API key: the sender's proof is what permits it.
    permission="webhooks:create",
    record_name="event",
    event_type="webhook.received",
    path="/v1/webhook-events/{id}",
    schema=_any_json,
    derive=lambda _event: {},
    # 30 days: what the registry has unless the tenant's file says otherwise.
    window_seconds=30 * 24 * 60 * 60,
    answer="accepted",
)


def identity_of(tenant_id: str, source: str, event_id: str, body: JsonValue) -> Identity:
    """Who an event is to the receipts table.

    Its body is no part of that: a redelivery whose body differs is a duplicate, and is counted.
    """
    scope = canonical_json.canonical([tenant_id, source, event_id])
    return Identity(
        key=keys.derived(WEBHOOKS.name, source, event_id),
        fingerprint=fingerprint(WEBHOOKS.name, scope),
        body_hash=body_hash(canonical_json.canonical(body)),
    )


def answer(*, duplicate: bool) -> Document:
    """The body of every 2xx."""
    return {"accepted": True, "duplicate": duplicate}
