"""The fingerprint: what a key was used for."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from handlers.domain.canonical_json import canonical

if TYPE_CHECKING:
    from handlers.domain.canonical_json import JsonValue


def body_hash(body: JsonValue) -> str:
    """SHA-256 (64 hex digits) of the canonical JSON of a body."""
    return sha256(canonical(body)).hexdigest()


def fingerprint(operation: str, body: JsonValue) -> str:
    """SHA-256 (64 hex digits) over the operation and the canonical JSON of the body.

    An operation's name holds no NUL, so the two parts cannot run into each other.
    """
    return sha256(operation.encode() + b"\0" + canonical(body)).hexdigest()
