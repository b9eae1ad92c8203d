"""How large a DynamoDB item may be, and is."""

from __future__ import annotations

from typing import Final

from bench.units import item_bytes

__all__ = ["MAX_ITEM_BYTES", "item_bytes"]

MAX_ITEM_BYTES: Final = 400 * 1024
"""The service's limit, attribute names included."""
