"""What a target is: a function of bytes that raises when a promise of the product is broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Broken(AssertionError):
    """A promise was broken: what an oracle raises."""


@dataclass(frozen=True)
class Target:
    """One thing to fuzz.

    Attributes:
        name: as the command line has it.
        check: takes any bytes; raises for a broken promise, whatever the exception is.
        seeds: ordinary inputs, made from the tests' own builders, so that they stay in step with the code.
    """

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]


def require(kept: object, promise: str) -> None:
    """Raise Broken with `promise` unless it is kept."""
    if not kept:
        raise Broken(promise)
