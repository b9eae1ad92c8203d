"""The promises that both libraries are held to: what any user of an idempotency library expects."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Promise(Enum):
    """One promise; its text is the row of the table."""

    OWN_WRITE = "a write that the SDK sent again is known for one's own: no 409 while nobody else has the key"
    MISMATCH = "another request under the key is noticed, and has no effect"
    REMEMBERED = "an effect that happened is not forgotten because its attempt failed"
    FENCED = "an attempt whose claim is another's by now changes and deletes nothing"
    ONE_CLAIM = "no two attempts hold an unexpired claim at once"
    ONE_ANSWER = "one answer is stored in a window"
    ANSWER_STAYS = "whoever was told an answer finds that one until the window is over"
    ONE_EFFECT = "one charge in a window"
    TOLD = "every answer told was stored"
    NOT_STUCK = "a retry after the lease is answered"


def broken(promise: Promise, text: str) -> str:
    """How a rule says that a promise is broken."""
    return f"{promise.value}: {text}"


def promises_in(said: Iterable[str]) -> frozenset[Promise]:
    """The promises of which `said` says that they are broken."""
    texts = list(said)
    return frozenset(one for one in Promise for text in texts if text.startswith(f"{one.value}: "))
