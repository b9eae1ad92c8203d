"""Cuts the three small languages of CloudWatch queries (maths, Metrics Insights, SEARCH) into words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ops.observing.lines import QueryError

_PATTERN: Final = re.compile(
    r"""\s*(?:
      (?P<number>\d+(?:\.\d+)?)
    | (?P<text>'[^']*'|"[^"]*")
    | (?P<word>[A-Za-z_:][\w.:/-]*)
    | (?P<sign><=|>=|==|!=|&&|\|\||[-+*/()\[\],<>={}])
    )""",
    re.VERBOSE,
)
# In maths `a-b` is a subtraction; elsewhere a name may hold a hyphen.
_MATHS: Final = re.compile(_PATTERN.pattern.replace(r"[\w.:/-]*", r"\w*"), re.VERBOSE)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign; of a quoted text, what is between the quotes.

    `kind`: number, text, word, sign, or end (after the last).
    """

    kind: str
    value: str
    quote: str = ""


class Tokens:
    """The words of one query, taken one after the other."""

    def __init__(self, query: str, *, maths: bool = False) -> None:
        """Raises QueryError where something is no word, number or sign."""
        self._query = query
        self._tokens = _cut(query, _MATHS if maths else _PATTERN)
        self._at = 0

    @property
    def next(self) -> Token:
        """The next one, which stays."""
        return self._tokens[self._at]

    def take(self) -> Token:
        """The next one. The end is never passed."""
        token = self.next
        self._at += token.kind != "end"
        return token

    def accept(self, *values: str) -> str | None:
        """Take the next one if it is one of these signs or (in whatever case) words."""
        token = self.next
        if token.kind in {"sign", "word"} and token.value.upper() in values:
            return self.take().value.upper()
        return None

    def expect(self, *values: str) -> str:
        """As `accept`; raises QueryError if it is none of them."""
        found = self.accept(*values)
        if found is None:
            raise self.error(f"expected {' or '.join(values)}")
        return found

    def expect_kind(self, *kinds: str) -> Token:
        """Take one of these kinds; raises QueryError for any other."""
        if self.next.kind not in kinds:
            raise self.error(f"expected a {' or '.join(kinds)}")
        return self.take()

    def expect_end(self) -> None:
        """Raises QueryError if something is left."""
        if self.next.kind != "end":
            raise self.error("expected nothing more")

    def error(self, what: str) -> QueryError:
        """A QueryError that says what is there instead, and in which query."""
        there = "its end" if self.next.kind == "end" else f"{self.next.value!r}"
        return QueryError(f"{self._query!r}: {what}, not {there}")


# An alarm's expression is read again for each minute that is looked at: a stage has some hundreds of them.
@lru_cache(maxsize=1024)
def _cut(query: str, pattern: re.Pattern[str]) -> tuple[Token, ...]:
    tokens = []
    at, end = 0, len(query.rstrip())
    while at < end:
        found = pattern.match(query, at)
        if found is None or found.lastgroup is None:
            raise QueryError(f"{query!r}: cannot be read from {query[at:].strip()[:20]!r} on")
        value = found[found.lastgroup]
        quoted = found.lastgroup == "text"
        tokens.append(Token(found.lastgroup, value[1:-1] if quoted else value, value[0] if quoted else ""))
        at = found.end()
    return (*tokens, Token("end", ""))
