"""Planted in the claim: who is first, and what the others are told."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

import rfc8785

from handlers.domain import acquire, protocol
from handlers.domain.ports import Held, Written
from handlers.domain.protocol import InProgress, Lapsed
from handlers.domain.receipt import Status
from proof.payments import payment, payments, sending, two_bodies, two_tenants
from proof.planted.plant import Planted, stands
from proof.receipts import AskingStore
from proof.requests import PAYMENT
from tests.fakes import receipts as fake
from tests.fakes.receipts import InMemoryReceipts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from handlers.domain.acquire import Wanted
    from handlers.domain.json_text import JsonValue
    from handlers.domain.ports import PutOutcome
    from handlers.domain.protocol import Claim, Decision
    from handlers.domain.receipt import Receipt
    from handlers.domain.request import Request
    from proof.scenario import Scenario

_put, _fresh = InMemoryReceipts.put, acquire._fresh


@contextmanager
def _read_then_write() -> Iterator[None]:
    with (
        patch.object(AskingStore, "put", _read_and_write),
        patch.object(InMemoryReceipts, "read", _read, create=True),
        patch.object(InMemoryReceipts, "write", _write, create=True),
    ):
        yield


def _read_and_write(store: AskingStore, receipt: Receipt, claim: Claim) -> PutOutcome:
    found: Held | None = store._ask("receipts", "read", receipt, claim)
    if found is not None:
        return found
    written: Written = store._ask("receipts", "write", receipt, claim)
    return written


def _read(store: InMemoryReceipts, receipt: Receipt, claim: Claim) -> Held | None:
    there = stands(store, receipt)
    return None if there is None or fake._free(there, claim) else Held(there)


def _write(store: InMemoryReceipts, receipt: Receipt, claim: Claim) -> Written:
    store.items[claim.tenant_id, claim.key] = receipt
    return Written(abandoned=False)


def _put_for_all_tenants(store: InMemoryReceipts, receipt: Receipt, claim: Claim) -> PutOutcome:
    for (_, key), there in store.items.items():
        if key == claim.key and not fake._free(there, claim):
            return Held(there)
    return _put(store, receipt, claim)


def _own_written_again(store: InMemoryReceipts, receipt: Receipt, claim: Claim) -> PutOutcome:
    there = stands(store, receipt)
    if there is None or there.owner != claim.owner:
        return _put(store, receipt, claim)
    store.items[claim.tenant_id, claim.key] = receipt
    return Written(abandoned=False)


def own_write_not_recognised(existing: Receipt, claim: Claim) -> Decision:
    """`decide`, for which nobody is the owner."""
    return protocol.decide(existing, replace(claim, owner=""))


def _mismatch_after_in_progress(existing: Receipt, claim: Claim) -> Decision:
    if existing.status is Status.IN_PROGRESS:
        return _no_mismatch(existing, claim)
    return protocol.decide(existing, claim)


def _no_mismatch(existing: Receipt, claim: Claim) -> Decision:
    return protocol.decide(existing, replace(claim, fingerprint=existing.fingerprint))


def _no_mismatch_with_an_answer(existing: Receipt, claim: Claim) -> Decision:
    if existing.status is Status.COMPLETED:
        return _no_mismatch(existing, claim)
    return protocol.decide(existing, claim)


def _lease_not_looked_at(existing: Receipt, claim: Claim) -> Decision:
    decision = protocol.decide(existing, claim)
    return Lapsed(existing) if isinstance(decision, InProgress) else decision


def _lease_without_end(existing: Receipt, claim: Claim) -> Decision:
    decision = protocol.decide(existing, claim)
    return InProgress(1) if isinstance(decision, Lapsed) else decision


def _without_a_lease(wanted: Wanted, request: Request) -> Receipt:
    return replace(_fresh(wanted, request), lease_until=0)


def _members_as_sent(value: Mapping[str, JsonValue]) -> dict[str, bytes]:
    return {name: rfc8785.dumps(item) for name, item in value.items()}


def _spellings() -> Scenario:
    sent = [payment(PAYMENT), payment(dict(reversed(PAYMENT.items())))]
    return sending("payments, members in another order", sent, 0)


def _decide(planted: object) -> AbstractContextManager[object]:
    return patch("handlers.domain.acquire.decide", planted)


PLANTED: Final = (
    Planted(
        "read-then-write",
        "The claim reads whether the key is free, and then writes without a condition.",
        "B opened a second window inside the first",
        6,
        0,
        partial(payments, 2, 0),
        _read_then_write,
    ),
    Planted(
        "own-claim-not-recognised",
        "A claim that the SDK sent twice takes its own first write for another's.",
        "A was told that its request still runs (409), and no other attempt of it ever did",
        3,
        1,
        partial(payments, 2, 1),
        partial(_decide, own_write_not_recognised),
    ),
    Planted(
        "mismatch-after-in-progress",
        "The decision looks whether the first request runs before it looks whether it is the same.",
        "B was told that its request still runs (409), and no other attempt of it ever did",
        4,
        0,
        partial(two_bodies, 2, 0),
        partial(_decide, _mismatch_after_in_progress),
    ),
    Planted(
        "no-mismatch-with-an-answer",
        "The decision compares what the key was used for only while the first request runs.",
        "B was given the answer of another request",
        6,
        0,
        partial(two_bodies, 2, 0),
        partial(_decide, _no_mismatch_with_an_answer),
    ),
    Planted(
        "fingerprint-as-sent",
        "The fingerprint is of the body as it was sent, not of its canonical form.",
        "B was told of another request with its key (422), and there was none",
        4,
        0,
        _spellings,
        partial(patch, "handlers.domain.canonical_json.members", _members_as_sent),
    ),
    Planted(
        "tenants-share-keys",
        "The claim looks for the key alone, whoever's it is.",
        "B was told that its request still runs (409), and no other attempt of it ever did",
        4,
        0,
        partial(two_tenants, 2, 0),
        partial(patch.object, InMemoryReceipts, "put", _put_for_all_tenants),
    ),
    Planted(
        "lease-not-looked-at",
        "The decision takes any unfinished claim for a lapsed one.",
        "B took the claim of A over inside its lease",
        5,
        0,
        partial(payments, 2, 0),
        partial(_decide, _lease_not_looked_at),
    ),
    Planted(
        "lease-without-end",
        "The decision takes any unfinished claim for one that runs.",
        "Y came when every lease was over, and was told that a request still runs",
        2,
        1,
        partial(payments, 1, 1),
        partial(_decide, _lease_without_end),
    ),
    Planted(
        "claim-without-a-lease",
        "The claim is written with a lease of 0.",
        "A claimed without a lease: nobody waits until it has finished",
        2,
        0,
        partial(payments, 2, 0),
        partial(patch, "handlers.domain.acquire._fresh", _without_a_lease),
    ),
    Planted(
        "own-claim-written-again",
        "A claim may be written again by its owner, also when its first sending arrives after the answer.",
        "A changed a stored answer inside its window",
        6,
        1,
        partial(payments, 2, 1),
        partial(patch.object, InMemoryReceipts, "put", _own_written_again),
    ),
)
