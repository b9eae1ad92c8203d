"""Planted in the answer: what the client is told of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from handlers import http
from handlers.domain import protocol
from handlers.domain.accept import Replayed
from handlers.domain.errors import EffectFailed, RequestInProgress
from handlers.domain.protocol import InProgress
from proof.accepting import accepted, lead
from proof.payments import payments
from proof.planted.plant import Planted

if TYPE_CHECKING:
    from handlers.domain.accept import Accepted
    from handlers.domain.protocol import Claim, Decision
    from handlers.domain.receipt import Receipt


def answered(error: type[Exception], instead: int) -> tuple[tuple[object, ...], ...]:
    """The table of problems, where one error has another status."""
    return tuple(
        (kind, instead if kind is error else status, *rest) for kind, status, *rest in http._PROBLEMS
    )


def _at_once(existing: Receipt, claim: Claim) -> Decision:
    decision = protocol.decide(existing, claim)
    return InProgress(1) if isinstance(decision, InProgress) else decision


def _tomorrow(existing: Receipt, claim: Claim) -> Decision:
    decision = protocol.decide(existing, claim)
    return InProgress(86_400) if isinstance(decision, InProgress) else decision


def _unmarked(outcome: Accepted | Replayed) -> dict[str, Any]:
    return http.answer(outcome.response)


def _as_a_webhooks(outcome: Accepted | Replayed) -> dict[str, Any]:
    if isinstance(outcome, Replayed):
        return http.answer(replace(outcome.response, status=200, body='{"accepted":true,"duplicate":true}'))
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
        partial(patch, "handlers.http._PROBLEMS", answered(EffectFailed, 400)),
    ),
    Planted(
        "in-progress-as-an-outage",
        "Who comes while the first request runs is told of an outage.",
        "B was answered 503, and nothing had gone wrong",
        4,
        0,
        partial(payments, 2, 0),
        partial(patch, "handlers.http._PROBLEMS", answered(RequestInProgress, 503)),
    ),
    Planted(
        "come-again-at-once",
        "Who comes while the first request runs is told to come again in a second, whatever its lease.",
        "B was told to come again in 1 s, inside the lease of A",
        4,
        0,
        partial(payments, 2, 0),
        partial(patch, "handlers.domain.acquire.decide", _at_once),
    ),
    Planted(
        "retry-after-a-day",
        "Who comes while the first request runs is told to come again tomorrow.",
        "B was told to come again in 86400 s, long after the lease of A",
        4,
        0,
        partial(payments, 2, 0),
        partial(patch, "handlers.domain.acquire.decide", _tomorrow),
    ),
    Planted(
        "duplicate-told-as-a-webhooks",
        "The duplicate of a lead is answered as that of a webhook is.",
        "B was answered 200 with an answer that is stored nowhere",
        4,
        0,
        partial(accepted, [lead()] * 2, 0),
        partial(patch, "handlers.intake.answer", _as_a_webhooks),
    ),
)
