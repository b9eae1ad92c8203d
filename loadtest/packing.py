"""What a run left behind as rows of JSON, for the files in which its parts are put together."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from loadtest.outside import Charge, Entity
from loadtest.stored import AuditEvent, StoredReceipt, StoredRecord

Found = StoredReceipt | StoredRecord | AuditEvent | Charge | Entity
"""What is packed."""

_TYPES: Final[dict[str, type[Any]]] = {
    one.__name__: one for one in (StoredReceipt, StoredRecord, AuditEvent, Charge, Entity)
}
_NAMES: Final = {name: tuple(one.name for one in fields(kind)) for name, kind in _TYPES.items()}


def pack(found: Found) -> list[Any]:
    """One as a row."""
    name = type(found).__name__
    return [name, *(getattr(found, one) for one in _NAMES[name])]


def unpack(row: list[Any]) -> Found:
    """The one that was packed."""
    name, *values = row
    # Headers are pairs, and JSON knows lists only.
    made: Found = _TYPES[name](*(tuple(map(tuple, one)) if isinstance(one, list) else one for one in values))
    return made
