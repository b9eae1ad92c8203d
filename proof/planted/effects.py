"""Planted in the effect: under which key it happens, and when it may happen again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from handlers.domain import execute, ids, payment_provider
from proof.payments import payments
from proof.planted.plant import Planted

if TYPE_CHECKING:
    from handlers.domain.effect import Attempt

_HOUR: Final = 3_600
_downstream_key, _attempt = ids.downstream_key, execute._Run._attempt


def _without_generation(tenant_id: str, key: str, generation: str) -> str:
    del generation
    return _downstream_key(tenant_id, key, "")


def _of_its_own(run: execute._Run, record_id: str) -> Attempt:
    owner = run.acquired.receipt.owner
    return replace(_attempt(run, record_id), downstream_key=sha256(owner.encode()).hexdigest())


PLANTED: Final = (
    Planted(
        "downstream-key-without-generation",
        "The provider is given one key for all windows of a key.",
        "two windows of k were answered with one charge, ch_1",
        6,
        1,
        partial(payments, 2, 1, window_seconds=_HOUR),
        partial(patch, "handlers.domain.ids.downstream_key", _without_generation),
    ),
    Planted(
        "downstream-key-of-the-attempt",
        "The provider is given another key by each attempt.",
        "charges under 2 different keys for one acceptance of k",
        5,
        1,
        partial(payments, 2, 1),
        partial(patch, "handlers.domain.execute._Run._attempt", _of_its_own),
    ),
    Planted(
        "sent-again-when-forgotten",
        "A resumed payment is sent again although the provider may have forgotten its key.",
        "2 charges under one downstream key",
        5,
        1,
        partial(payments, 2, 1),
        partial(
            patch,
            "handlers.domain.payment_provider._Call.charge_id",
            payment_provider._Call._send,
        ),
    ),
)
