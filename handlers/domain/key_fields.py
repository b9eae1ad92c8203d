"""Keys made of chosen parts of a body, named by JMESPath expressions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import jmespath
from jmespath.exceptions import JMESPathError

from handlers.domain import keys
from handlers.domain.canonical_json import canonical
from handlers.domain.errors import Fault, InvalidBody
from handlers.domain.fingerprint import body_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jmespath.parser import ParsedResult

    from handlers.domain.json_text import JsonValue
    from handlers.domain.operation import Document

# Far more expressions than the tenants of one environment use; it only has to end somewhere.
_COMPILED_KEPT = 1024


def key(operation: str, expressions: Sequence[str], body: Document) -> str:
    """The derived key of a body: equal for bodies whose parts are equal as JSON, and for no others.

    Raises:
        InvalidBody: with a fault for every part that is missing or null. Hashed as null, it would make
            unrelated requests share an answer.
    """
    parts = [_part(expression, body) for expression in expressions]
    missing = [name for name, part in zip(expressions, parts, strict=True) if part is None]
    if missing:
        raise _missing(missing)
    # A JSON list: no two lists of parts have the same text, whatever the parts hold.
    return keys.derived(operation, "fields", body_hash(canonical(parts)))


def _part(expression: str, body: Document) -> JsonValue:
    try:
        found: JsonValue = _compiled(expression).search(body)
    except JMESPathError:
        # A function of the expression met a value that it does not take: the part is not there.
        return None
    return found


@lru_cache(maxsize=_COMPILED_KEPT)
def _compiled(expression: str) -> ParsedResult:
    return jmespath.compile(expression)


def _missing(expressions: Sequence[str]) -> InvalidBody:
    detail = "the key is made of this part of the body, and it is missing"
    faults = tuple(Fault(_pointer(expression), "missing", detail) for expression in expressions)
    return InvalidBody(f"parts that the key is made of are missing: {', '.join(expressions)}", faults)


def _pointer(expression: str) -> str:
    # `a.b` is what nearly all expressions look like; any other is named as it stands.
    parts = expression.split(".")
    return "/" + "/".join(parts) if all(part.isidentifier() for part in parts) else expression
