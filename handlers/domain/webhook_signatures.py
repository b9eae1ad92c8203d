"""HMAC signatures as their owners define them: how each is spelled, and what it signs.

Sources: standard-webhooks/standard-webhooks, spec/standard-webhooks.md; docs.github.com, "Validating webhook
deliveries"; docs.stripe.com/webhooks, "Verify webhook signatures manually"; shopify.dev, "Deliver webhooks
through HTTPS". All are HMAC with SHA-256.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from typing import Final

_DIGITS = re.compile(r"[0-9]{1,12}")
_STANDARD_PREFIX: Final = "whsec_"
_STANDARD_VERSION: Final = "v1,"
_STRIPE_VERSION: Final = "v1"


def hex_digest(key: bytes, signed: bytes) -> bytes:
    """HMAC-SHA256 in lower-case hexadecimal."""
    return hmac.digest(key, signed, "sha256").hex().encode()


def base64_digest(key: bytes, signed: bytes) -> bytes:
    """HMAC-SHA256 in base64."""
    return base64.b64encode(hmac.digest(key, signed, "sha256"))


def timestamp(text: str) -> int | None:
    """Seconds since the epoch, or None when the text is anything but digits of some plausible number."""
    return int(text) if _DIGITS.fullmatch(text) else None


def standard_webhooks_key(secret: str) -> bytes | None:
    """The key in `whsec_<base64>` (prefix and padding may be missing), or None when it is not base64."""
    encoded = secret.removeprefix(_STANDARD_PREFIX).rstrip("=")
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def standard_webhooks_shown(header: str) -> list[str]:
    """The base64 signatures of version 1 in `v1,<base64> v1,<base64> v1a,<other>`."""
    return [
        part.removeprefix(_STANDARD_VERSION)
        for part in header.split(" ")
        if part.startswith(_STANDARD_VERSION)
    ]


def stripe_shown(header: str) -> tuple[str, list[str]] | None:
    """Timestamp and hexadecimal signatures of `t=<seconds>,v1=<hex>,v1=<hex>,v0=<other>`.

    None when it does not have exactly one timestamp.
    """
    pairs = [part.partition("=") for part in header.split(",")]
    times = {value for name, _, value in pairs if name == "t"}
    if len(times) != 1:
        return None
    return times.pop(), [value for name, _, value in pairs if name == _STRIPE_VERSION]
