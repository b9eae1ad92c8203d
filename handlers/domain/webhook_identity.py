"""Which event a webhook tells of: its own id, from the body, from a header, or from both when they agree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from jmespath.exceptions import JMESPathError

from handlers.domain import body_parts
from handlers.domain.canonical_json import canonical
from handlers.domain.errors import CorruptItem, Fault, InvalidBody

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.body_parts import Part
    from handlers.domain.json_text import JsonValue
    from handlers.domain.tenant_config import IdentityConfig

# The longest ids in common use are Message-IDs, which fill a line of 998 characters at most (RFC 5322 section
# 2.1.1). Tenant, operation and source add less than 120 bytes, so that the key stays far below DynamoDB's
# 2,048; and an id that is never hashed can be looked for, in logs and at the destination, by what it is.
MAX_ID_BYTES: Final = 1024
# Far more templates than the sources of one environment's tenants have; it only has to end somewhere.
_TEMPLATES_KEPT: Final = 1024

# In a destination's path each would make it another path (RFC 3986 section 5.2.4), however it is escaped.
_DOTS: Final = frozenset({".", ".."})
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_MARK = re.compile(r"[^\w%]", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Template:
    """A template taken apart.

    Attributes:
        literals: what stands before, between and behind the placeholders: one more than `parts`.
        separators: one character of each literal that stands between two placeholders.
    """

    literals: tuple[str, ...]
    parts: tuple[Part, ...]
    separators: str

    def filled(self, body: JsonValue) -> str:
        """The template with the body's values in it."""
        values = [_of_body(part, body) for part in self.parts]
        if len(values) > 1:
            # `a:b` and `c` must not make the id that `a` and `b:c` make. One part alone cannot be mistaken.
            values = [_escaped(value, self.separators) for value in values]
        return "".join(literal + value for literal, value in zip(self.literals, [*values, ""], strict=True))


def event_id(config: IdentityConfig, headers: Mapping[str, Sequence[str]], body: JsonValue) -> str:
    """The event's id.

    Args:
        headers: every value of each header, under its lower-case name.
        body: parsed.

    Raises:
        InvalidBody: a part is missing, blank, no scalar or unprintable; the path's value is true or false;
            the id is longer than MAX_ID_BYTES, or `.` or `..`; header and body disagree.
        CorruptItem: the config holds what is no JMESPath or no template.
    """
    sent = None if config.header is None else _of_header(config.header, headers)
    found = sent or ""
    if config.path is not None:
        path = _path(config.path)
        _require_many_valued(path, body)
        if sent is not None and sent != _of_body(path, body):
            detail = f"header {config.header} and {path.text} of the body name different events"
            raise _invalid(path.field, "conflicting", detail)
        found = _template(config.template or f"{{{config.path}}}").filled(body)
    if len(found.encode()) > MAX_ID_BYTES:
        raise _invalid("", "too_long", f"the event's id is longer than {MAX_ID_BYTES} bytes")
    if found in _DOTS:
        raise _invalid("", "dots", "the event's id is nothing but dots, which no path can hold")
    return found


def _escaped(value: str, separators: str) -> str:
    return "".join(
        "".join(f"%{byte:02X}" for byte in mark.encode()) if mark == "%" or mark in separators else mark
        for mark in value
    )


@lru_cache(maxsize=_TEMPLATES_KEPT)
def _template(template: str) -> _Template:
    pieces = _PLACEHOLDER.split(template)
    literals, parts = tuple(pieces[::2]), tuple(pieces[1::2])
    if not parts or any("{" in literal or "}" in literal for literal in literals):
        raise _corrupt("template")
    # Letters, digits and % are what an escaped separator is spelled with, so they separate nothing.
    marks = [_MARK.findall(literal) for literal in literals[1:-1]]
    if not all(marks):
        raise _corrupt("template")
    separators = "".join(found[0] for found in marks)
    return _Template(literals, tuple(_path(part) for part in parts), separators)


def _path(expression: str) -> Part:
    try:
        return body_parts.part(expression)
    except JMESPathError:
        raise _corrupt("path") from None


def _corrupt(member: str) -> CorruptItem:
    return CorruptItem(f"the registry's entry of a source of webhooks is malformed: identity.{member}")


def _of_header(name: str, headers: Mapping[str, Sequence[str]]) -> str:
    values = {value.strip(" \t") for value in headers.get(name.lower(), ())}
    if len(values) > 1:
        raise _invalid(name, "conflicting", f"header {name} was sent with two different values")
    return _checked(name, f"header {name}", values.pop() if values else None)


def _of_body(path: Part, body: JsonValue) -> str:
    found = path.of(body)
    if isinstance(found, bool | int | float):
        # As in fingerprints: 1, 1.0 and 1e0 are one number.
        found = canonical(found).decode()
    return _checked(path.field, f"{path.text} of the body", found)


def _require_many_valued(path: Part, body: JsonValue) -> None:
    # Of true and false there are two: all later events would be taken for the first ones. Beside an id, in a
    # template (`{id}:{livemode}`), either is a part like any other.
    if isinstance(path.of(body), bool):
        detail = (
            f"{path.text} of the body must be text or a number, not true or false: it identifies the event"
        )
        raise _invalid(path.field, "boolean", detail)


def _checked(field: str, place: str, value: JsonValue) -> str:
    if value is None:
        raise _invalid(field, "missing", f"{place} is missing: it identifies the event")
    if not isinstance(value, str):
        raise _invalid(field, "not_scalar", f"{place} must be text or a number: it identifies the event")
    if not value.strip():
        raise _invalid(field, "blank", f"{place} is blank: it identifies the event")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _invalid(field, "lone_surrogate", f"{place} holds half of a surrogate pair") from None
    if _CONTROL.search(value):
        raise _invalid(field, "control_character", f"{place} holds a control character")
    return value


def _invalid(field: str, rule: str, detail: str) -> InvalidBody:
    return InvalidBody(detail, (Fault(field, rule, detail),))
