"""Equal values as one small number, so that a state of the search is a tuple of numbers."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final

# What is its own key: immutable, and equal where it looks equal.
_PLAIN: Final = (str, bytes, int, float, bool, type(None))


class Interner:
    """Numbers for values. Two values have one number when they are of one type and equal part by part."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._values: list[Any] = []
        # A value that was seen is known again by its identity: it is kept, so no other can have that.
        self._seen: dict[int, int] = {}

    def number(self, value: Any) -> int:  # noqa: ANN401 - any value of the model
        """The number of a value, which must not be changed any more."""
        known = self._seen.get(id(value))
        if known is not None:
            return known
        key = frozen(value)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._values)
            self._values.append(value)
            self._seen[id(value)] = number
        return number

    def value(self, number: int) -> Any:  # noqa: ANN401 - see `number`
        """The value behind a number."""
        return self._values[number]


def frozen(value: Any) -> Any:  # noqa: ANN401 - any value of the model
    """A hashable key of a value: equal for equal values, and never for others.

    Raises TypeError for what it does not know: a mistaken key would hide states.
    """
    if isinstance(value, Enum):
        return (type(value).__name__, value.name)
    if isinstance(value, _PLAIN):
        # 1 == 1.0 == True in Python, and not in what programs do with them.
        return value if type(value) in (str, int) else (type(value).__name__, value)
    if is_dataclass(value) and not isinstance(value, type):
        # One list for each type: a name in it is worth nothing, the order says which field it is.
        return (type(value).__name__, *(frozen(getattr(value, name)) for name in _names(type(value))))
    if isinstance(value, dict):
        return ("dict", *sorted((frozen(name), frozen(member)) for name, member in value.items()))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *map(frozen, value))
    if isinstance(value, frozenset):
        return ("frozenset", *sorted(map(frozen, value), key=repr))
    if isinstance(value, type):
        return ("type", value.__qualname__)
    raise TypeError(f"no key for a {type(value).__name__}")


_NAMES: dict[type, tuple[str, ...]] = {}


def _names(kind: type) -> tuple[str, ...]:
    names = _NAMES.get(kind)
    if names is None:
        names = _NAMES[kind] = tuple(field.name for field in fields(kind))
    return names
