"""Decisions read from bytes, so that a fuzzer that knows bytes can shape events."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Option = TypeVar("Option")

# What text readers have stumbled over: quotes, separators, blanks of Unicode, controls, halves of surrogate
# pairs, what a JSON, header or path reader means something by.
PIECES = (
    *("", "a", "K-1", "acme", "application/json", "text/plain", "; charset=utf-8", "; charset*=utf-8''utf-8"),
    *(
        "; a*=x",
        "; a*0=y",
        "+json",
        '"',
        '\\"',
        "\\",
        ",",
        ", ",
        " ",
        "\t",
        "\u00a0",
        "\u2028",
        "\ufeff",
        "\x00",
    ),
    *(
        "\r\n",
        "\x7f",
        "\ud800",
        "\udfff",
        "\uffff",
        "é",
        "😀",
        "#",
        "%",
        "%00",
        "%2e",
        "%ED%A0%80",
        "/",
        "..",
        ":",
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        "null",
        "0",
        "-1",
        "9" * 20,
        "9" * 5000,
        "1e400",
        "A" * 300,
        "https://x.example",
        "*",
    ),
    *("Bearer ", "Basic ", "t=1796000000", "v1=", "v1,", "sha256=", "whsec_", "=", "'", "<", "&"),
)


class Choices:
    """Reads decisions from `data`. When it has run out, every decision is for the first option.

    So the empty input is the most ordinary one, and a longer one departs from it step by step.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, below: int) -> int:
        """A number from 0 to `below` - 1."""
        size = 1 if below <= 256 else 2
        taken = self._data[self._at : self._at + size]
        self._at += size
        return int.from_bytes(taken, "big") % below

    def pick(self, options: Sequence[Option]) -> Option:
        """One of `options`."""
        return options[self.number(len(options))]

    def flag(self) -> bool:
        """True now and then."""
        return self.number(4) == 3

    def text(self) -> str:
        """Some pieces of text behind each other."""
        return "".join(self.pick(PIECES) for _ in range(self.number(6)))

    def value(self, depth: int = 0) -> object:
        """A JSON value of any shape, at most three levels deep."""
        scalars = (None, True, False, 0, -1, 2**63, 1.5, 1e308)
        kind = self.number(4 if depth < 3 else 2)
        if kind == 0:
            return self.pick(scalars)
        if kind == 1:
            return self.text()
        if kind == 2:
            return [self.value(depth + 1) for _ in range(self.number(4))]
        return {self.text(): self.value(depth + 1) for _ in range(self.number(4))}


def split(data: bytes) -> tuple[Choices, bytes]:
    """Decisions in the first line, and a payload behind it: what most targets are given."""
    head, _, payload = data.partition(b"\n")
    return Choices(head), payload
