"""JSON in: parsed strictly. JSON to compare: in one canonical form. JSON to keep: as it was sent."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

import rfc8785

from handlers.domain.errors import Fault, InvalidBody

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.json_text import JsonValue


# Deep enough for any form or webhook, and far from Python's recursion limit of 1,000 frames.
MAX_DEPTH = 64

# A double holds every integer up to here, so below it 1, 1.0 and 1e0 are one value (RFC 8785 section
# 3.2.2.3).
# Beyond it we depart from the RFC: integers keep every digit, or two order numbers could be taken for one.
_MAX_EXACT_INTEGER = 2**53

# A string, which is kept, or white space between tokens (RFC 8259 section 2).
_STRING_OR_SPACE = re.compile(r'("(?:[^"\\]++|\\.)*+")|[ \t\n\r]+')


def parse(body: bytes) -> JsonValue:
    """Parse a body.

    Raises:
        InvalidBody: not UTF-8, not JSON, NaN or Infinity (also by overflow: 1e400), a name twice in one
            object, a lone surrogate, or nested deeper than MAX_DEPTH.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid("not_utf8", f"the body is not UTF-8 (byte {error.start})") from None
    if not text.strip():
        raise _invalid("not_json", "it is empty")
    if text.startswith("\ufeff"):
        raise _invalid("not_json", "it starts with a byte order mark")
    try:
        value: JsonValue = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        raise _invalid("not_json", f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        # CPython refuses integers of more than 4,300 digits (sys.set_int_max_str_digits).
        raise _invalid("number_too_long", "a number has too many digits") from None
    _check_tree(value, 1)
    return value


def as_sent(body: bytes) -> str:
    """The text of a body that `parse` has taken, less the white space between its tokens.

    Numbers keep their spelling (1.50, 1e2, any number of decimals) and strings their escapes.
    """
    return _STRING_OR_SPACE.sub(r"\1", body.decode("utf-8"))


def canonical(value: JsonValue) -> bytes:
    """Return `value` in canonical form: RFC 8785, but integers beyond 2^53 keep every digit.

    Equal values give equal bytes whatever their member order, white space or number spelling. Numbers with a
    fraction or an exponent are doubles, as in the RFC: decimals that a double cannot hold make no difference.
    """
    return _encode(value)


def members(value: Mapping[str, JsonValue]) -> dict[str, bytes]:
    """The canonical form of each member of an object, in canonical order; `joined` makes the whole of it."""
    # RFC 8785 section 3.2.3: members are ordered by their names' UTF-16 code units.
    ordered = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
    return {name: _encode(item) for name, item in ordered}


def joined(encoded: Mapping[str, bytes]) -> bytes:
    """The canonical form of the object whose `members` these are."""
    return b"{" + b",".join(rfc8785.dumps(name) + b":" + item for name, item in encoded.items()) + b"}"


def _encode(value: JsonValue) -> bytes:
    if isinstance(value, dict):
        return joined(members(value))
    if isinstance(value, list):
        return b"[" + b",".join(_encode(item) for item in value) + b"]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _MAX_EXACT_INTEGER:
        return str(value).encode()
    return rfc8785.dumps(value)


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    named: dict[str, JsonValue] = {}
    for name, item in pairs:
        if name in named:
            # Which one is not said: a name can be as private as a value.
            raise _invalid("duplicate_name", "a name stands twice in one object")
        named[name] = item
    return named


def _constant(name: str) -> float:
    raise _invalid("not_finite", f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _invalid("not_finite", "a number is larger than a double can hold")
    return number


def _check_tree(value: JsonValue, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, dict):
        for name, item in value.items():
            _check_text(name)
            _check_tree(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check_tree(item, depth + 1)
    elif isinstance(value, str):
        _check_text(value)


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _invalid("lone_surrogate", "a string holds half of a surrogate pair") from None


def _too_deep() -> InvalidBody:
    return _invalid("too_deep", f"the body is nested deeper than {MAX_DEPTH} levels")


def _invalid(rule: str, detail: str) -> InvalidBody:
    return InvalidBody(f"the body is not acceptable JSON: {detail}", (Fault("", rule, detail),))
