"""Planted in the takeover of a lapsed claim."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from handlers.domain import protocol
from handlers.domain.ports import Held, TakenOver
from handlers.domain.protocol import InProgress, Lapsed
from proof.payments import payments
from proof.planted.plant import Planted, stands
from proof.receipts import AskingStore
from tests.fakes.receipts import InMemoryReceipts

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from handlers.domain.ports import TakeOverOutcome
    from handlers.domain.protocol import Claim, Decision
    from handlers.domain.receipt import Receipt

# Less than the margin of a lease.
_EARLY_MS: Final = 4_000
_take_over, _asked_to_take_over = InMemoryReceipts.take_over, AskingStore.take_over


def _from_anybody(
    store: InMemoryReceipts, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int
) -> TakeOverOutcome:
    there = stands(store, lapsed)
    seen = lapsed if there is None else replace(lapsed, owner=there.owner)
    return _take_over(store, seen, claim, lease_until, expires_at)


def _from_oneself(
    store: InMemoryReceipts, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int
) -> TakeOverOutcome:
    return _take_over(store, replace(lapsed, owner=claim.owner), claim, lease_until, expires_at)


def _of_an_answer(
    store: InMemoryReceipts, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int
) -> TakeOverOutcome:
    there = stands(store, lapsed)
    if there is None or there.owner != lapsed.owner:
        return _take_over(store, lapsed, claim, lease_until, expires_at)
    taken = replace(there, owner=claim.owner, lease_until=lease_until, expires_at=expires_at)
    store.items[lapsed.tenant_id, lapsed.key] = taken
    return TakenOver(taken)


def _own_not_recognised(
    store: InMemoryReceipts, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int
) -> TakeOverOutcome:
    there = stands(store, lapsed)
    if there is not None and there.owner == claim.owner:
        return Held(there)
    return _take_over(store, lapsed, claim, lease_until, expires_at)


def _with_a_new_generation(
    store: InMemoryReceipts, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int
) -> TakeOverOutcome:
    outcome = _take_over(store, lapsed, claim, lease_until, expires_at)
    if not isinstance(outcome, TakenOver):
        return outcome
    taken = replace(outcome.receipt, generation=f"{claim.owner}-generation")
    store.items[lapsed.tenant_id, lapsed.key] = taken
    return TakenOver(taken)


def _from_the_stale_image(
    store: AskingStore, lapsed: Receipt, claim: Claim, lease_until: int, expires_at: int
) -> TakeOverOutcome:
    outcome = _asked_to_take_over(store, lapsed, claim, lease_until, expires_at)
    if not isinstance(outcome, TakenOver):
        return outcome
    return TakenOver(replace(outcome.receipt, checkpoint=lapsed.checkpoint))


def _seconds_too_early(existing: Receipt, claim: Claim) -> Decision:
    decision = protocol.decide(existing, claim)
    if isinstance(decision, InProgress) and existing.lease_until - claim.clock_ms <= _EARLY_MS:
        return Lapsed(existing)
    return decision


def _stored(planted: object) -> AbstractContextManager[object]:
    return patch.object(InMemoryReceipts, "take_over", planted)


PLANTED: Final = (
    Planted(
        "takeover-from-anybody",
        "A takeover does not ask whether the claim is still that of the owner it saw.",
        "C took the claim of B over for that of A, who had lost it",
        9,
        1,
        partial(payments, 3, 1),
        partial(_stored, _from_anybody),
    ),
    Planted(
        "takeover-of-an-answer",
        "A takeover does not ask whether the claim is still unfinished.",
        "B changed a stored answer inside its window",
        8,
        1,
        partial(payments, 2, 1),
        partial(_stored, _of_an_answer),
    ),
    Planted(
        "takeover-from-oneself",
        "A takeover asks for its own claim, which it does not have yet: nobody ever takes over.",
        "Y came when every lease was over, and was answered 503",
        2,
        1,
        partial(payments, 1, 1),
        partial(_stored, _from_oneself),
    ),
    Planted(
        "own-takeover-not-recognised",
        "A takeover that the SDK sent twice takes its own write for a first claim: it resumes nothing.",
        "B stored the answer of a resumed request in a window that is over: a retry acts again",
        9,
        2,
        partial(payments, 2, 2),
        partial(_stored, _own_not_recognised),
    ),
    Planted(
        "takeover-with-a-new-generation",
        "A takeover makes a new generation, and so a new downstream key.",
        "Y took over under a new generation: what the old one did is forgotten",
        2,
        1,
        partial(payments, 1, 1),
        partial(_stored, _with_a_new_generation),
    ),
    Planted(
        "takeover-from-the-stale-image",
        "A takeover resumes from the image that its refused claim brought.",
        "B charges again although the checkpoint of its own claim has the charge",
        9,
        1,
        partial(payments, 2, 1, checkpoint=True),
        partial(patch.object, AskingStore, "take_over", _from_the_stale_image),
    ),
    Planted(
        "takeover-before-the-lease-ends",
        "A claim is taken over in the last four seconds of its lease.",
        "B took the claim of A over inside its lease",
        6,
        1,
        partial(payments, 2, 1),
        partial(patch, "handlers.domain.acquire.decide", _seconds_too_early),
    ),
)
