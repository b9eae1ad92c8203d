"""What a target is: a function of bytes that raises when a promise of the product is broken."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


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


_heard: list[list[Broken]] = []


def require(kept: object, promise: str) -> None:
    """Raise Broken with `promise` unless it is kept."""
    if not kept:
        broken = Broken(promise)
        if _heard:
            _heard[-1].append(broken)
        raise broken


@contextmanager
def hearing() -> Iterator[None]:
    """Runs the code under test; what `require` raised within is raised at the end, if that code caught it.

    Handlers take whatever a store raises for an outage, or for one record's fault, and go on: rightly, but a
    promise that the store of an oracle finds broken would be heard by nobody.
    """
    _heard.append([])
    try:
        yield
    finally:
        if heard := _heard.pop():
            raise heard[0]
