"""Idempotency keys, against a second reader of the header written from RFC 9651 alone."""

from __future__ import annotations

from fuzz.target import Target, require
from handlers.domain import keys
from handlers.domain.errors import InvalidKey


def check_values(values: list[str]) -> None:
    """`from_header` of these values: the key that the second reader finds, or a refusal."""
    expected = expected_key(values)
    try:
        found = keys.from_header(values)
    except InvalidKey as error:
        require(expected is False, "a good key was refused")
        require(error.faults and all(fault.field == keys.HEADER for fault in error.faults), "no fault")
        return
    require(found == expected, "another key than the header holds")
    if found is None:
        return
    require(keys.check(found) == found, "a key that no header could have carried")
    quoted = '"' + found.replace("\\", "\\\\").replace('"', '\\"') + '"'
    require(keys.from_header([f" {quoted}\t"]) == found, "its quoted spelling is another key")
    require(keys.from_header([quoted, quoted]) == found, "sent twice alike, it is another key")


def expected_key(values: list[str]) -> str | bool | None:
    """The key, None for no header, or False for a header that must be refused."""
    found: set[str] = set()
    for value in values:
        for part in _parts(value.strip(" \t")):
            key = _one(part.strip(" \t"))
            if key is None:
                return False
            found.add(key)
    if len(found) > 1:
        return False
    return found.pop() if found else None


def _parts(value: str) -> list[str]:
    """Cut at each comma that blanks follow."""
    parts, start, at = [], 0, 0
    while at < len(value):
        end = at + 1
        while value[at] == "," and end < len(value) and value[end] in " \t":
            end += 1
        if end > at + 1:
            parts.append(value[start:at])
            start = end
        at = end
    return [*parts, value[start:]]


def _one(part: str) -> str | None:
    if part.startswith('"'):
        unquoted = _unquoted(part)
        if unquoted is None:
            return None
        part = unquoted
    good = 1 <= len(part) <= keys.MAX_KEY_BYTES and all("!" <= letter <= "~" for letter in part)
    return part if good else None


def _unquoted(part: str) -> str | None:
    """The steps of RFC 9651 section 4.2.5, one character after the other."""
    found, letters = "", iter(part[1:])
    for letter in letters:
        if letter == "\\":
            escaped = next(letters, "")
            if escaped not in ('"', "\\"):
                return None
            found += escaped
        elif letter == '"':
            return found if next(letters, None) is None else None
        elif not " " <= letter <= "~":
            return None
        else:
            found += letter
    return None


def _check(data: bytes) -> None:
    check_values(data.decode("utf-8", "surrogateescape").split("\n") if data else [])


def _seeds() -> list[bytes]:
    return [
        b"",
        b"K-1",
        b'"quoted \\" and \\\\"',
        b' "a" \t',
        b"a, a",
        b"a\na",
        b"a,b",
        b"a\nb",
        "ключ".encode(),
        b"x" * keys.MAX_KEY_BYTES,
        b"x" * (keys.MAX_KEY_BYTES + 1),
        b'"',
        b"\xff",
    ]


TARGET = Target("keys", _check, _seeds)
