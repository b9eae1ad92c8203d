"""What plants are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Plant = Callable[[pytest.MonkeyPatch], None]
Planted = tuple[str, Plant, str]
"""The target that finds it, how it is planted, and the promise that it breaks, in the oracle's words."""


def broken(*_arguments: Any, **_more: Any) -> Any:
    """Takes a function's place, and fails."""
    raise KeyError("planted")


def answering(value: Any) -> Any:
    """Takes a function's place, and always answers the same."""
    return lambda *_arguments, **_more: value
