"""How a storm's webhooks prove who sent them: two schemes as their owners publish them.

The storm's own code, on the standard library: it shares none with the platform that checks these signatures.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import Final

# The sources that a stormed tenant has: the name of each, and how it signs.
STANDARD: Final = "events"  # Standard Webhooks
STRIPE: Final = "stripe"
SOURCES: Final = (STANDARD, STRIPE)

_PREFIX = "whsec_"


def sign(source: str, secret: str, event_id: str, body: bytes, at_seconds: int) -> dict[str, str]:
    """The headers that prove `body`.

    Args:
        source: one of `SOURCES`. secret: as its sender was given it. at_seconds: since the epoch, now.

    Raises:
        KeyError: the storm does not know how this source signs.
    """
    return {STANDARD: _standard, STRIPE: _stripe}[source](secret, event_id, body, at_seconds)


def _standard(secret: str, event_id: str, body: bytes, at_seconds: int) -> dict[str, str]:
    """github.com/standard-webhooks: HMAC-SHA256 over `id.timestamp.body`; the key: base64 after `whsec_`."""
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        key = secret.encode()  # one that was made elsewhere, and is no base64
    signed = f"{event_id}.{at_seconds}.".encode() + body
    signature = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(at_seconds),
        "webhook-signature": f"v1,{signature}",
    }


def _stripe(secret: str, event_id: str, body: bytes, at_seconds: int) -> dict[str, str]:
    """docs.stripe.com/webhooks: HMAC-SHA256 over `timestamp.body`, hex; the whole secret is the key."""
    del event_id  # it is in the body
    signed = f"{at_seconds}.".encode() + body
    return {
        "Stripe-Signature": f"t={at_seconds},v1={hmac.digest(secret.encode(), signed, hashlib.sha256).hex()}"
    }
