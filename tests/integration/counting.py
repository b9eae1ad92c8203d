"""Counts what clients of a botocore session ask of AWS, in the units that AWS charges."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.units import item_bytes
from tests.records_table import PROJECTED

if TYPE_CHECKING:
    from collections.abc import Mapping

_INDEX_KEYS = ("pendingShard", "pendingSince")
_WRITE_BYTES, _READ_BYTES = 1024, 4096


@dataclass
class Asked:
    """What was asked since the last look. `details`: of the events put on the bus; `stores`: bytes."""

    calls: Counter[str] = field(default_factory=Counter)
    writes: int = 0
    reads: float = 0
    stores: int = 0
    details: list[str] = field(default_factory=list)


class Counting:
    """Hooks into a session, before its clients are made. `own`: a DynamoDB client that is not counted."""

    def __init__(self, session_events: Any, own: Any) -> None:
        self._own = own
        self._asked = Asked()
        self._before: Mapping[str, Any] = {}
        self._params: dict[str, Any] = {}
        session_events.register("before-parameter-build", self._note)
        session_events.register("after-call", self._count)

    def take(self) -> Asked:
        """What was asked, and start again."""
        asked, self._asked = self._asked, Asked()
        return asked

    def _note(self, params: dict[str, Any], model: Any, **_: object) -> None:
        self._params = dict(params)
        if model.name in ("PutItem", "UpdateItem"):
            self._before = self._item()

    def _count(self, parsed: Mapping[str, Any], model: Any, **_: object) -> None:
        self._asked.calls[model.name] += 1
        if model.name in ("PutItem", "UpdateItem"):
            self._wrote(self._before, self._item())
        elif model.name == "GetItem":
            whole = 1 if self._params.get("ConsistentRead") else 0.5
            self._asked.reads += whole * _units([parsed.get("Item") or {}], _READ_BYTES)
        elif model.name == "Query":
            assert not self._params.get("ConsistentRead")
            self._asked.reads += 0.5 * _units(parsed["Items"], _READ_BYTES)
        elif model.name == "PutEvents":
            self._asked.details += [entry["Detail"] for entry in self._params["Entries"]]

    def _item(self) -> dict[str, Any]:
        key = self._params.get("Key") or {"pk": self._params["Item"]["pk"]}
        table = self._params["TableName"]
        return self._own.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item") or {}

    def _wrote(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        larger = max(before, after, key=item_bytes)
        self._asked.writes += _units([larger], _WRITE_BYTES) + index_writes(before, after)
        self._asked.stores += item_bytes(after) - item_bytes(before)


def index_writes(before: Mapping[str, Any], after: Mapping[str, Any]) -> int:
    """The write units of the index of pending work for one write of its table.

    By DynamoDB's developer guide ("Global secondary indexes", write capacity): one to put an item in, one to
    take it out, both where its key changes, one where only a projected attribute does; none otherwise.
    """
    was, is_now = (tuple(item.get(name) for name in _INDEX_KEYS) for item in (before, after))
    if was != is_now:
        return sum(None not in keys for keys in (was, is_now))
    changed = any(before.get(name) != after.get(name) for name in PROJECTED)
    return int(changed and None not in is_now)


def _units(items: list[Mapping[str, Any]], of_bytes: int) -> int:
    return max(1, math.ceil(sum(map(item_bytes, items)) / of_bytes))
