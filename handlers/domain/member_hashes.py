"""Short hashes of a body's top-level members: which of them differ can be told without keeping any value."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# A duplicate costs the stored receipt's size: bounded by names as forms and APIs have them. A body with more
# or longer ones gets no names in its refusal, and nothing else.
MAX_MEMBERS: Final = 32
MAX_NAME_BYTES: Final = 64
# 48 bits, 8 characters: the fingerprint decides, this only names what differs.
_HASH_BYTES: Final = 6


def hashes(members: Mapping[str, bytes], salt: str) -> dict[str, str]:
    """A hash by name; empty when there are too many members or too long names.

    Args:
        members: the canonical JSON of each member.
        salt: the claim's generation, so that equal values of two receipts do not look equal.
    """
    if len(members) > MAX_MEMBERS or not all(_is_kept(name) for name in members):
        return {}
    return {name: _hash(salt, name, value) for name, value in members.items()}


def differing(stored: Mapping[str, str], salt: str, members: Mapping[str, bytes]) -> tuple[str, ...]:
    """The names of members that were added, removed or changed; empty when nothing was kept to tell by."""
    mine = hashes(members, salt)
    if not stored or not mine:
        return ()
    return tuple(sorted(name for name in stored.keys() | mine.keys() if stored.get(name) != mine.get(name)))


def _is_kept(name: str) -> bool:
    # DynamoDB has no empty attribute names, of members neither (its developer guide, naming rules).
    return 0 < len(name.encode()) <= MAX_NAME_BYTES


def _hash(salt: str, name: str, value: bytes) -> str:
    digest = sha256(b"\0".join((salt.encode(), name.encode(), value))).digest()
    return urlsafe_b64encode(digest[:_HASH_BYTES]).decode()
