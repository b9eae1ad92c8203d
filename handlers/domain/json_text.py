"""JSON values, and the text that is answered and stored of them."""

from __future__ import annotations

import json
from typing import TypeAlias

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"


def compact(value: JsonValue) -> str:
    """Return `value` as compact JSON text in its own member order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
