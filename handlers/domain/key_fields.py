"""Keys made of chosen parts of a body, named by JMESPath expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.domain import body_parts, keys
from handlers.domain.canonical_json import canonical
from handlers.domain.errors import Fault, InvalidBody
from handlers.domain.fingerprint import body_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handlers.domain.body_parts import Part
    from handlers.domain.json_text import JsonValue
    from handlers.domain.operation import Document


def key(operation: str, expressions: Sequence[str], body: Document) -> str:
    """The derived key of a body: equal for bodies whose parts are equal as JSON, and for no others.

    Raises:
        InvalidBody: with a fault for every part that is missing, null, true or false. Hashed as null, it
            would make unrelated requests share an answer, and of true and false there are only two.
    """
    parts = [body_parts.part(expression) for expression in expressions]
    found = [part.of(body) for part in parts]
    missing = [part for part, value in zip(parts, found, strict=True) if not _is_there(value)]
    if missing:
        raise _missing(missing)
    booleans = [part for part, value in zip(parts, found, strict=True) if isinstance(value, bool)]
    if booleans:
        raise _boolean(booleans)
    # A JSON list: no two lists of parts have the same text, whatever the parts hold.
    return keys.derived(operation, "fields", body_hash(canonical(found)))


def _is_there(value: JsonValue) -> bool:
    try:
        canonical(value)
    except ValueError:
        # A function's result that JSON does not have (a number beyond all numbers in a list, say).
        return False
    return value is not None


def _boolean(parts: Sequence[Part]) -> InvalidBody:
    detail = "the key is made of this part of the body, and true or false identifies no request"
    faults = tuple(Fault(part.field, "boolean", detail) for part in parts)
    named = ", ".join(part.text for part in parts)
    return InvalidBody(f"parts that the key is made of are true or false: {named}", faults)


def _missing(parts: Sequence[Part]) -> InvalidBody:
    detail = "the key is made of this part of the body, and it is missing"
    faults = tuple(Fault(part.field, "missing", detail) for part in parts)
    named = ", ".join(part.text for part in parts)
    return InvalidBody(f"parts that the key is made of are missing: {named}", faults)
