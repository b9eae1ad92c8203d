"""Planted in the owner's writes: the conditions that keep out whoever has lost its lease."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from handlers.domain.ports import Done, Held
from handlers.domain.receipt import Status
from proof.payments import payments
from proof.planted.plant import Planted, stands
from proof.receipts import AskingStore
from tests.fakes.receipts import InMemoryReceipts

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.ports import OwnersOutcome
    from handlers.domain.receipt import Receipt

_complete, _release = InMemoryReceipts.complete, InMemoryReceipts.release
_asked_to_complete = AskingStore.complete


def _unfenced(write: Callable[..., OwnersOutcome]) -> Callable[..., OwnersOutcome]:
    """An owner's write that whoever comes may make."""

    def written(store: InMemoryReceipts, owned: Receipt, *rest: Any) -> OwnersOutcome:  # noqa: ANN401
        there = stands(store, owned)
        return write(store, owned if there is None else replace(owned, owner=there.owner), *rest)

    return written


def _own_complete_not_recognised(store: InMemoryReceipts, owned: Receipt) -> OwnersOutcome:
    there = stands(store, owned)
    if there is not None and there.status is Status.COMPLETED:
        return Held(there)
    return _complete(store, owned)


def _release_by_delete(store: InMemoryReceipts, owned: Receipt) -> OwnersOutcome:
    outcome = _release(store, owned)
    if isinstance(outcome, Done):
        del store.items[owned.tenant_id, owned.key]
    return outcome


def _complete_without_outbox(store: InMemoryReceipts, owned: Receipt) -> OwnersOutcome:
    return _complete(store, replace(owned, outbox=None))


def _complete_whatever_comes(store: AskingStore, owned: Receipt) -> OwnersOutcome:
    _asked_to_complete(store, owned)
    return Done()


PLANTED: Final = (
    Planted(
        "no-fence-on-complete",
        "An answer is stored whoever owns the claim.",
        "A wrote (complete) after it had lost its lease to B",
        8,
        1,
        partial(payments, 2, 1),
        partial(patch.object, InMemoryReceipts, "complete", _unfenced(_complete)),
    ),
    Planted(
        "no-fence-on-release",
        "A lease is ended whoever owns the claim.",
        "A wrote (release) after it had lost its lease to B",
        8,
        2,
        partial(payments, 2, 2),
        partial(patch.object, InMemoryReceipts, "release", _unfenced(_release)),
    ),
    Planted(
        "no-fence-on-checkpoint",
        "A checkpoint is saved whoever owns the claim.",
        "A wrote (checkpoint) after it had lost its lease to B",
        8,
        1,
        partial(payments, 2, 1, checkpoint=True),
        partial(patch.object, InMemoryReceipts, "checkpoint", _unfenced(InMemoryReceipts.checkpoint)),
    ),
    Planted(
        "own-complete-not-recognised",
        "A complete that the SDK sent twice takes its own first write for another's.",
        "A was told that its request still runs (409), and no other attempt of it ever did",
        5,
        1,
        partial(payments, 2, 1),
        partial(patch.object, InMemoryReceipts, "complete", _own_complete_not_recognised),
    ),
    Planted(
        "release-by-delete",
        "A failed attempt deletes its claim.",
        "the item of k was deleted: its generation is forgotten",
        4,
        1,
        partial(payments, 2, 1),
        partial(patch.object, InMemoryReceipts, "release", _release_by_delete),
    ),
    Planted(
        "late-owner-answers-its-own",
        "An attempt whose complete was refused answers its own result, not what is stored.",
        "A was answered 201 with an answer that is stored nowhere",
        8,
        1,
        partial(payments, 2, 1),
        partial(patch.object, AskingStore, "complete", _complete_whatever_comes),
    ),
    Planted(
        "complete-without-outbox",
        "The answer is stored without what has to follow from it.",
        "A stored a success from which nothing follows: its record and its event are lost",
        4,
        0,
        partial(payments, 2, 0),
        partial(patch.object, InMemoryReceipts, "complete", _complete_without_outbox),
    ),
)
