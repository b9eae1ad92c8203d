"""Idempotency keys: what a caller may send, and where a key lives in the receipts table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from handlers.domain.errors import Fault, InvalidKey

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADER = "Idempotency-Key"

# The contract (DESIGN section 3). With a tenant id of at most 32 characters and the separator, the partition
# key stays far below DynamoDB's 2,048 bytes.
MAX_KEY_BYTES = 255

_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")
# RFC 9651 section 3.3.3: a string is quoted, and escapes only the quote and the backslash.
_STRUCTURED_STRING = re.compile(r'"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
_ESCAPED = re.compile(r'\\(["\\])')
# What proxies put between the values of a header that was sent twice (RFC 9110 section 5.3). A key holds no
# space, so this is never part of one; a comma alone may be.
_JOINED = re.compile(r",[ \t]+")

# A header's key is visible ASCII, so no header can make a key that starts with a space: that is where keys
# derived by the platform live.
_DERIVED_MARK = " "


def from_header(values: Sequence[str]) -> str | None:
    """Return the one key that the request carries, or None when it has no such header.

    Args:
        values: every value of the `Idempotency-Key` header, as received.

    Raises:
        InvalidKey: blank, longer than 255 bytes, not visible ASCII, a broken structured-field string
            (RFC 9651), or two different values.
    """
    keys = {parse(part) for value in values for part in _JOINED.split(value.strip(" \t"))}
    if len(keys) > 1:
        raise _invalid("conflicting", "the header was sent with two different values")
    return keys.pop() if keys else None


def check(key: str) -> str:
    """Return `key` when it is one that a header could have carried, else raise InvalidKey."""
    if not key:
        raise _invalid("blank", "the key is blank")
    if len(key.encode("utf-8", "surrogatepass")) > MAX_KEY_BYTES:
        raise _invalid("too_long", f"the key is longer than {MAX_KEY_BYTES} bytes")
    if not _VISIBLE_ASCII.fullmatch(key):
        raise _invalid("not_visible_ascii", "the key may hold only visible ASCII characters (0x21 to 0x7E)")
    return key


def missing(operation: str) -> InvalidKey:
    """The error for an operation that requires a key and got none."""
    return _invalid("missing", f"{operation} requires an {HEADER} header")


def partition_key(tenant_id: str, key: str) -> str:
    """`tenantId#key`: tenant ids hold no `#`, so the first one splits it and no two pairs collide."""
    return f"{tenant_id}#{key}"


def derived(operation: str, source: str, identity: str) -> str:
    """A key that the platform makes (from a body's hash, an event's id): out of reach of every header."""
    return f"{_DERIVED_MARK}{operation}:{source}:{identity}"


def parse(value: str) -> str:
    """The key in one header value: without blanks around it, and without the quotes of a structured field.

    Raises:
        InvalidKey: see `from_header`.
    """
    trimmed = value.strip(" \t")
    if trimmed.startswith('"'):
        quoted = _STRUCTURED_STRING.fullmatch(trimmed)
        if quoted is None:
            raise _invalid("bad_quoting", "the key starts with a quote but is not a structured-field string")
        trimmed = _ESCAPED.sub(r"\1", quoted.group(1))
    return check(trimmed)


def _invalid(rule: str, detail: str) -> InvalidKey:
    return InvalidKey(f"{HEADER}: {detail}", (Fault(HEADER, rule, detail),))
