"""JSON values, and the text that is answered and stored of them."""

from __future__ import annotations

import json
from typing import NoReturn, TypeAlias, cast

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"


def compact(value: JsonValue) -> str:
    """Return `value` as compact JSON text in its own member order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def parsed(text: str | bytes) -> JsonValue:
    """The value of a JSON text that was stored, queued or answered (a caller's: `canonical_json.parse`).

    Raises ValueError for what is no JSON, or nested deeper than Python follows.
    """
    try:
        return cast("JsonValue", json.loads(text, parse_constant=_no_number))
    except RecursionError:
        # No ValueError, so that whoever expects bad JSON would not expect it.
        raise ValueError("nested too deeply") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
