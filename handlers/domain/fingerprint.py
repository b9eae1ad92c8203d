"""The fingerprint: what a key was used for."""

from __future__ import annotations

from hashlib import sha256


def body_hash(canonical_body: bytes) -> str:
    """SHA-256 (64 hex digits) of the canonical JSON of a body."""
    return sha256(canonical_body).hexdigest()


def fingerprint(operation: str, canonical_body: bytes) -> str:
    """SHA-256 (64 hex digits) over the operation and the canonical JSON of the body.

    An operation's name holds no NUL, so the two parts cannot run into each other.
    """
    return sha256(operation.encode() + b"\0" + canonical_body).hexdigest()
