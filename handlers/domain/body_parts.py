"""Parts of a body, named by JMESPath expressions: what identifies requests and events."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import jmespath
from jmespath.exceptions import JMESPathError

if TYPE_CHECKING:
    from jmespath.parser import ParsedResult

    from handlers.domain.json_text import JsonValue

# Far more expressions than the tenants of one environment use; it only has to end somewhere.
_COMPILED_KEPT: Final = 1024
_DOTTED_NAMES: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
# What gives true or false of any body, whatever is in it. Tenant files take paths only; a registry that an
# earlier release wrote may hold such an expression.
_JUDGING: Final = frozenset({"comparator", "not_expression", "function_expression", "and_expression"})


@dataclass(frozen=True, slots=True)
class Part:
    """An expression over a body. `text`: as it was configured."""

    text: str
    compiled: ParsedResult

    @property
    def field(self) -> str:
        """As faults name it: a JSON Pointer where the expression is a plain path, else the expression."""
        return "/" + self.text.replace(".", "/") if _DOTTED_NAMES.fullmatch(self.text) else self.text

    def of(self, body: JsonValue) -> JsonValue:
        """What the body has there; None where it has nothing.

        Nothing is also what a function makes of a value that it does not take, a number beyond all numbers,
        and a judgement (`id == null`): it is there of every body, so that unrelated ones would be alike.
        """
        try:
            found: JsonValue = self.compiled.search(body)
        except (JMESPathError, TypeError, ValueError, ArithmeticError):
            return None
        if isinstance(found, float) and not math.isfinite(found):
            return None
        return None if isinstance(found, bool) and _judges(self.compiled.parsed) else found


@lru_cache(maxsize=_COMPILED_KEPT)
def part(expression: str) -> Part:
    """The part that an expression names, compiled once. Raises JMESPathError for what is no JMESPath."""
    return Part(expression, jmespath.compile(expression))


def _judges(node: object) -> bool:
    if not isinstance(node, dict):
        return False
    return node["type"] in _JUDGING or any(_judges(child) for child in node["children"])
