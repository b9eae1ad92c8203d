"""Planted in the answer: what the client is told of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from handlers import http
from handlers.domain.errors import EffectFailed
from proof.payments import payments
from proof.planted.plant import Planted

if TYPE_CHECKING:
    from handlers.domain.accept import Accepted, Replayed

_BLAMED: Final = tuple(
    (kind, 400 if kind is EffectFailed else status, *rest) for kind, status, *rest in http._PROBLEMS
)


def _unmarked(outcome: Accepted | Replayed) -> dict[str, Any]:
    return http.answer(outcome.response)


PLANTED: Final = (
    Planted(
        "replay-not-marked",
        "A replay does not say that it is one.",
        "B was told that its request is new, and A had answered it",
        6,
        0,
        partial(payments, 2, 0),
        partial(patch, "handlers.intake.answer", _unmarked),
    ),
    Planted(
        "failure-blamed-on-the-client",
        "A charge that could not be made is answered as a mistake of the client's.",
        "A was answered 400, which nothing of this explains",
        4,
        1,
        partial(payments, 1, 1),
        partial(patch, "handlers.http._PROBLEMS", _BLAMED),
    ),
)
