"""One suite over every receipt store: claims taken over, saved, completed and released by their owner."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handlers.domain.ports import Done, Gone, Held, TakenOver, Written
from handlers.domain.receipt import Outbox, Status, StoredResponse, purge_at
from tests.builders import HOUR_MS, NOW_MS, claim, in_progress, receipt
from tests.fakes.receipts import InMemoryReceipts

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.ports import ReceiptStore
    from handlers.domain.receipt import Receipt

LEASE, EXPIRES = NOW_MS + 33_000, NOW_MS + HOUR_MS
LAPSED = in_progress(
    lease_until=NOW_MS - 1,
    fields={"email": "abc", "a.b #1": "def"},
    checkpoint="saved",
    pinned="settings",
    # Soon: a takeover that kept it would lose the claim to TTL.
    purge_at=NOW_MS // 1000 + 60,
)
ANSWER = StoredResponse(201, {"Location": "/v1/payments/P"}, '{"id":"P"}')
OUTBOX = Outbox("EVENT-2", "payment.created", "P", '{"id":"P"}')
ANSWERED: dict[str, Any] = {
    "status": Status.COMPLETED,
    "lease_until": 0,
    "expires_at": EXPIRES + 1,
    "purge_at": purge_at(NOW_MS, EXPIRES + 1),
    "response": ANSWER,
    "outbox": OUTBOX,
    "checkpoint": None,
}


def holding(store: ReceiptStore, item: Receipt) -> ReceiptStore:
    """`store`, with `item` in it."""
    assert isinstance(store.put(item, claim(owner=item.owner)), Written)
    return store


def stored(store: ReceiptStore) -> Receipt:
    """The item under the key, as a claim that cannot succeed brings it back."""
    held = store.put(receipt(owner="reader"), claim(owner="reader", arrival_ms=0))
    assert isinstance(held, Held)
    return held.existing


def taken(item: Receipt, owner: str = "owner-new") -> Receipt:
    """`item` after its takeover at NOW_MS."""
    purge = purge_at(NOW_MS, EXPIRES)
    return replace(item, owner=owner, lease_until=LEASE, expires_at=EXPIRES, purge_at=purge)


def test_a_takeover_changes_owner_and_lease_and_brings_the_rest_as_it_stands(store: ReceiptStore) -> None:
    saved_since = replace(LAPSED, checkpoint="saved since")
    holding(store, saved_since)
    outcome = store.take_over(LAPSED, claim(), LEASE, EXPIRES)
    assert outcome == TakenOver(taken(saved_since))
    assert stored(store) == taken(saved_since)


def test_a_takeover_that_the_sdk_sends_twice_recognises_itself(store: ReceiptStore) -> None:
    holding(store, LAPSED)
    first = store.take_over(LAPSED, claim(), LEASE, EXPIRES)
    assert store.take_over(LAPSED, claim(), LEASE, EXPIRES) == first


@pytest.mark.parametrize("existing", [in_progress(owner="third"), receipt(), receipt(owner="third")], ids=str)
def test_a_claim_that_was_touched_since_is_not_taken_over(store: ReceiptStore, existing: Receipt) -> None:
    holding(store, existing)
    assert store.take_over(LAPSED, claim(), LEASE, EXPIRES) == Held(existing)
    assert stored(store) == existing


def test_what_is_gone_is_neither_taken_over_nor_written_by_its_owner(store: ReceiptStore) -> None:
    assert store.take_over(LAPSED, claim(), LEASE, EXPIRES) == Gone()
    mine = in_progress()
    for outcome in (store.checkpoint(mine, "x"), store.complete(replace(mine, **ANSWERED))):
        assert outcome == Gone()
    assert store.release(mine) == Gone()
    assert store.put(mine, claim(owner=mine.owner)) == Written(abandoned=False)


def test_an_owner_saves_completes_and_thereby_forgets_what_it_saved(store: ReceiptStore) -> None:
    mine = in_progress(fields={"email": "abc"}, body_hash="hash")
    holding(store, mine)
    for text in ("first", "second"):
        assert store.checkpoint(mine, text) == Done()
        assert stored(store) == replace(mine, checkpoint=text)
    assert store.complete(replace(mine, **ANSWERED)) == Done()
    assert stored(store) == replace(mine, **ANSWERED)


def test_a_final_refusal_is_completed_without_an_outbox(store: ReceiptStore) -> None:
    mine = in_progress()
    refused = replace(mine, **(ANSWERED | {"outbox": None, "response": StoredResponse(402, {}, "no")}))
    holding(store, mine)
    assert store.complete(refused) == Done()
    assert stored(store) == refused


def test_a_release_ends_the_lease_and_keeps_the_generation_and_all_else(store: ReceiptStore) -> None:
    mine = in_progress(checkpoint="saved")
    holding(store, mine)
    for _ in range(2):
        assert store.release(mine) == Done()
    assert stored(store) == replace(mine, lease_until=0)


def test_a_complete_that_the_sdk_sends_twice_recognises_itself(store: ReceiptStore) -> None:
    mine = replace(in_progress(), **ANSWERED)
    holding(store, in_progress())
    assert [store.complete(mine), store.complete(mine)] == [Done(), Done()]


@pytest.mark.parametrize("existing", [in_progress(owner="successor"), receipt(owner="successor")], ids=str)
def test_a_late_owner_changes_nothing_and_gets_what_stands_there(
    store: ReceiptStore, existing: Receipt
) -> None:
    holding(store, existing)
    late = in_progress()
    for outcome in (
        store.checkpoint(late, "x"),
        store.complete(replace(late, **ANSWERED)),
        store.release(late),
    ):
        assert outcome == Held(existing)
    assert stored(store) == existing


def test_after_its_complete_an_owner_neither_saves_nor_releases(store: ReceiptStore) -> None:
    done = receipt()
    holding(store, done)
    assert [store.checkpoint(done, "x"), store.release(done)] == [Held(done), Held(done)]
    assert stored(store) == done


def test_of_many_that_see_a_claim_lapse_one_takes_it_over(atomic_store: ReceiptStore) -> None:
    holding(atomic_store, LAPSED)
    callers, barrier = 12, threading.Barrier(12)
    outcomes: list[object] = [None] * callers

    def call(number: int) -> None:
        mine = claim(owner=f"owner-{number}")
        barrier.wait()
        outcomes[number] = atomic_store.take_over(LAPSED, mine, LEASE, EXPIRES)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, TakenOver)]
    expected = taken(LAPSED, f"owner-{winner}")
    assert [outcome for number, outcome in enumerate(outcomes) if number != winner] == [Held(expected)] * 11


OWNERS = ("owner-a", "owner-b")
STEPS = st.lists(
    st.tuples(st.sampled_from(["take_over", "checkpoint", "complete", "release"]), st.sampled_from(OWNERS)),
    max_size=6,
)


def step(store: ReceiptStore, name: str, owner: str) -> object:
    """One write of one owner; a takeover is by it, from the other."""
    mine = in_progress(owner=owner)
    if name == "take_over":
        other = in_progress(owner=OWNERS[1 - OWNERS.index(owner)])
        return store.take_over(other, claim(owner=owner), LEASE, EXPIRES)
    if name == "checkpoint":
        return store.checkpoint(mine, f"of {owner}")
    return store.release(mine) if name == "release" else store.complete(replace(mine, **ANSWERED))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_every_store_goes_the_way_of_the_fake(
    make_store: Callable[[], ReceiptStore], steps: list[tuple[str, str]]
) -> None:
    fake, real = InMemoryReceipts(), make_store()
    for one in (fake, real):
        holding(one, in_progress(owner=OWNERS[0]))
    for name, owner in steps:
        assert step(real, name, owner) == step(fake, name, owner)
    assert stored(real) == stored(fake)
