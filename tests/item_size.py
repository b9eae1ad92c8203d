"""How large a DynamoDB item is, by AWS's rules ("DynamoDB item sizes and formats", developer guide)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_ITEM_BYTES: Final = 400 * 1024
"""The service's limit, attribute names included."""


def item_bytes(item: Mapping[str, Any]) -> int:
    """The bytes that `item` (attribute values as boto3's client takes them) counts for."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    if kind == "S":
        return len(content.encode())
    if kind == "N":
        return len(content.lstrip("-0")) // 2 + 2
    if kind == "M":
        # Three bytes for the map, one more for each member.
        return 3 + len(content) + item_bytes(content)
    raise AssertionError(f"receipts hold no {kind}")
