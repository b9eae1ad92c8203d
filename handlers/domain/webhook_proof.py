"""How a webhook's sender proves itself: one scheme a source, over the bytes that were sent.

Nothing is parsed before the proof, and every comparison is of bytes in constant time.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from hmac import compare_digest
from typing import TYPE_CHECKING, Final, Literal

from handlers.domain import webhook_signatures as signatures
from handlers.domain.errors import Unauthorized

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from handlers.domain.json_members import Members

Scheme = Literal["bearer", "basic", "header", "standard-webhooks", "github", "stripe", "shopify"]
_SCHEMES: Final[tuple[Scheme, ...]] = (
    "bearer",
    "basic",
    "header",
    "standard-webhooks",
    "github",
    "stripe",
    "shopify",
)

Reason = Literal[
    "unknown_tenant",
    "unknown_source",
    "no_secret",
    "header_missing",
    "header_twice",
    "malformed",
    "too_old_or_new",
    "no_match",
]
"""Why a sender is not believed: for our log alone."""


class Unproven(Unauthorized):
    """The sender is not believed. Its answer is the same whatever the reason, so that it tells nothing."""

    def __init__(self, reason: Reason) -> None:
        super().__init__("the sender did not prove who it is")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Proof:
    """What a source's senders must show.

    `header`: for the scheme `header`, where the secret is. `tolerance_seconds`: how far the time in a
    signature may be from ours, either way; meant for schemes that sign one.
    """

    scheme: Scheme
    header: str | None
    tolerance_seconds: int

    @classmethod
    def of(cls, members: Members) -> Proof:
        """Read `{"scheme": ..., "header": ..., "toleranceSeconds": ...}`; raises CorruptItem."""
        proof = cls(
            members.word("scheme", _SCHEMES),
            members.text_or_none("header"),
            members.whole("toleranceSeconds", 0),
        )
        if proof.scheme == "header" and proof.header is None:
            raise members.corrupt("header")
        return proof


@dataclass(frozen=True, slots=True)
class Sent:
    """What arrived. `headers`: every value, by lower-case name. `body`: the raw bytes. Time in seconds."""

    headers: Mapping[str, Sequence[str]]
    body: bytes
    arrival_seconds: float

    def one(self, name: str) -> str:
        """The one value of a header; raises Unproven when it is missing or was sent with two values."""
        values = {value.strip(" \t") for value in self.headers.get(name.lower(), ())}
        if len(values) > 1:
            # Which of them the sender meant would be chance, or the choice of whoever added the other.
            raise Unproven("header_twice")
        if not values or values == {""}:
            raise Unproven("header_missing")
        return values.pop()

    def check_time(self, timestamp: str, tolerance_seconds: int) -> None:
        """Raise Unproven unless `timestamp` (seconds since the epoch, in digits) is close to the arrival."""
        seconds = signatures.timestamp(timestamp)
        if seconds is None:
            raise Unproven("malformed")
        if abs(self.arrival_seconds - seconds) > tolerance_seconds:
            raise Unproven("too_old_or_new")


def verify(proof: Proof, secrets: Sequence[str], sent: Sent) -> None:
    """Return when the sender knows one of `secrets`; several are a rotation.

    Raises:
        Unproven: it does not, or there is no secret to know.
    """
    if not secrets:
        raise Unproven("no_secret")
    shown, expected = _CHECKS[proof.scheme](proof, secrets, sent)
    # Every pair is compared: which of them matches first is nobody's business.
    matches = [compare_digest(one, other) for one in shown for other in expected]
    if not any(matches):
        raise Unproven("no_match")


# What the sender has shown, and what it might have shown rightly.
_Compared = tuple[list[bytes], list[bytes]]


def _bearer(_proof: Proof, secrets: Sequence[str], sent: Sent) -> _Compared:
    return [_bytes(_credentials(sent, "bearer"))], [_bytes(secret) for secret in secrets]


def _basic(_proof: Proof, secrets: Sequence[str], sent: Sent) -> _Compared:
    try:
        shown = base64.b64decode(_bytes(_credentials(sent, "basic")), validate=True)
    except binascii.Error:
        raise Unproven("malformed") from None
    # A secret is `user:password`, as RFC 7617 joins them, in UTF-8.
    return [shown], [_bytes(secret) for secret in secrets]


def _header(proof: Proof, secrets: Sequence[str], sent: Sent) -> _Compared:
    return [_bytes(sent.one(proof.header or ""))], [_bytes(secret) for secret in secrets]


def _standard_webhooks(proof: Proof, secrets: Sequence[str], sent: Sent) -> _Compared:
    event_id, time = sent.one("webhook-id"), sent.one("webhook-timestamp")
    shown = signatures.standard_webhooks_shown(sent.one("webhook-signature"))
    sent.check_time(time, proof.tolerance_seconds)
    signed = _bytes(f"{event_id}.{time}.") + sent.body
    keys = [signatures.standard_webhooks_key(secret) for secret in secrets]
    return _bytes_each(shown), [signatures.base64_digest(key, signed) for key in keys if key]


def _github(_proof: Proof, secrets: Sequence[str], sent: Sent) -> _Compared:
    shown = sent.one("X-Hub-Signature-256")
    digests = [signatures.hex_digest(_bytes(secret), sent.body) for secret in secrets]
    return [_bytes(shown)], [b"sha256=" + digest for digest in digests]


def _stripe(proof: Proof, secrets: Sequence[str], sent: Sent) -> _Compared:
    parsed = signatures.stripe_shown(sent.one("Stripe-Signature"))
    if parsed is None:
        raise Unproven("malformed")
    time, shown = parsed
    sent.check_time(time, proof.tolerance_seconds)
    signed = _bytes(f"{time}.") + sent.body
    return _bytes_each(shown), [signatures.hex_digest(_bytes(secret), signed) for secret in secrets]


def _shopify(_proof: Proof, secrets: Sequence[str], sent: Sent) -> _Compared:
    shown = sent.one("X-Shopify-Hmac-Sha256")
    return [_bytes(shown)], [signatures.base64_digest(_bytes(secret), sent.body) for secret in secrets]


_CHECKS: Final[Mapping[Scheme, Callable[[Proof, Sequence[str], Sent], _Compared]]] = {
    "bearer": _bearer,
    "basic": _basic,
    "header": _header,
    "standard-webhooks": _standard_webhooks,
    "github": _github,
    "stripe": _stripe,
    "shopify": _shopify,
}


def _credentials(sent: Sent, scheme: str) -> str:
    """What follows the scheme's name in `Authorization`, which has no case (RFC 9110 section 11.1)."""
    name, _, credentials = sent.one("Authorization").partition(" ")
    if name.lower() != scheme or not credentials.strip(" "):
        raise Unproven("malformed")
    return credentials.strip(" ")


def _bytes(text: str) -> bytes:
    # A header may hold anything; half a surrogate pair must not be an error, only no match.
    return text.encode("utf-8", "surrogatepass")


def _bytes_each(texts: Sequence[str]) -> list[bytes]:
    return [_bytes(text) for text in texts]
