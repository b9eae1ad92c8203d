"""Planted in what a client is told when something went wrong: whether it happened, and whether to wait."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn
from unittest.mock import patch

from handlers.domain import payment_provider
from handlers.domain.errors import EffectFailed, EffectUnknown
from handlers.domain.ports import Done
from proof.payments import payments
from proof.planted.answering import answered
from proof.planted.plant import Planted
from proof.receipts import AskingStore

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt

_send = payment_provider._Call._send


def _mistaken(*_: object) -> NoReturn:
    raise ValueError("a mistake in the code")


def _lost_answers_are_failures(call: payment_provider._Call) -> str:
    try:
        return _send(call)
    except EffectUnknown as error:
        raise EffectFailed("not charged", of_the_key=True) from error


def _nothing_found(*_: object) -> None:
    return None


def _not_released(store: AskingStore, owned: Receipt) -> Done:
    del store, owned
    return Done()


PLANTED: Final = (
    Planted(
        "five-hundred-to-a-late-owner",
        "An attempt that has lost its lease is answered 500.",
        "A was answered 500, which nothing of this explains",
        8,
        1,
        partial(payments, 2, 1),
        partial(patch, "handlers.domain.lost_lease.answer", _mistaken),
    ),
    Planted(
        "bad-gateway-while-charged",
        "A charge whose answer was lost is told as one that was not made.",
        "A was told that nothing was charged (502), and a charge was made",
        4,
        1,
        partial(payments, 2, 1),
        partial(patch.object, payment_provider._Call, "_send", _lost_answers_are_failures),
    ),
    Planted(
        "not-charged-while-charged",
        "A look-up finds no charge, whatever the provider has.",
        "Y has stored that nothing was charged, and it was",
        5,
        1,
        partial(payments, 2, 1),
        partial(patch, "handlers.domain.payment_answers.looked_up", _nothing_found),
    ),
    Planted(
        "release-forgotten",
        "A failed attempt keeps its claim until its lease is over.",
        "A was told to try again (502), and its own lease is in the way",
        3,
        1,
        partial(payments, 2, 1),
        partial(patch.object, AskingStore, "release", _not_released),
    ),
    Planted(
        "unknown-effect-as-an-outage",
        "A charge of which nothing is known is answered as an outage of a table.",
        "A was told that a store cannot be reached (503), and each had answered it",
        4,
        1,
        partial(payments, 2, 1),
        partial(patch, "handlers.http._PROBLEMS", answered(EffectUnknown, 503)),
    ),
)
