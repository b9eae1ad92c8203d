"""One suite over every receipt store: what passes here may stand in for the table."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handlers.domain.ports import Held, ReceiptStore, Written
from handlers.domain.receipt import Receipt, Status, StoredResponse
from tests.builders import FINGERPRINT, HOUR_MS, NOW_MS, claim, in_progress, receipt
from tests.fakes.receipts import InMemoryReceipts

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER = "b" * 64
MINE = receipt(owner="owner-new", generation="generation-new")
OVER = NOW_MS - 1


def _put_as_the_first(store: ReceiptStore, item: Receipt) -> None:
    assert isinstance(store.put(item, claim(owner=item.owner)), Written)


def test_the_first_write_takes_effect(store: ReceiptStore) -> None:
    assert store.put(MINE, claim()) == Written(abandoned=False)


@pytest.mark.parametrize(
    "existing",
    [
        receipt(),
        receipt(fingerprint=OTHER),
        receipt(expires_at=NOW_MS + 1),
        in_progress(),
        in_progress(fingerprint=OTHER),
        in_progress(lease_until=0),
        in_progress(expires_at=OVER, lease_until=NOW_MS),
        in_progress(expires_at=OVER, lease_until=0),
        in_progress(expires_at=OVER, lease_until=NOW_MS + 1, fingerprint=OTHER),
        receipt(response=StoredResponse(201, {"Location": "/x", "ETag": '"e"'}, None)),
        receipt(response=StoredResponse(201, {}, "")),
        receipt(outbox=None),
    ],
    ids=str,
)
def test_a_held_key_refuses_the_write_and_brings_the_holder_back_whole(
    store: ReceiptStore, existing: Receipt
) -> None:
    _put_as_the_first(store, existing)
    assert store.put(MINE, claim()) == Held(existing)


@pytest.mark.parametrize(
    ("existing", "abandoned"),
    [
        (receipt(expires_at=NOW_MS), False),
        (receipt(expires_at=OVER), False),
        (receipt(expires_at=OVER, fingerprint=OTHER), False),
        (in_progress(expires_at=OVER, lease_until=NOW_MS - 1, fingerprint=OTHER), True),
    ],
    ids=str,
)
def test_a_key_whose_window_is_over_is_free_again(
    store: ReceiptStore, existing: Receipt, abandoned: bool
) -> None:
    _put_as_the_first(store, existing)
    assert store.put(MINE, claim()) == Written(abandoned=abandoned)
    assert store.put(receipt(owner="third"), claim(owner="third")) == Held(MINE)


def test_a_write_that_the_sdk_sends_twice_brings_itself_back(store: ReceiptStore) -> None:
    _put_as_the_first(store, MINE)
    assert store.put(MINE, claim()) == Held(MINE)


def test_two_tenants_with_one_key_do_not_meet(store: ReceiptStore) -> None:
    theirs = replace(MINE, tenant_id="bluebird")
    assert store.put(MINE, claim()) == Written(abandoned=False)
    assert store.put(theirs, claim(tenant_id="bluebird")) == Written(abandoned=False)


def test_of_many_at_once_one_is_written_and_all_others_get_it_back(atomic_store: ReceiptStore) -> None:
    callers, barrier = 16, threading.Barrier(16)
    outcomes: list[object] = [None] * callers

    def call(number: int) -> None:
        mine = receipt(owner=f"owner-{number}", generation=f"generation-{number}")
        barrier.wait()
        outcomes[number] = atomic_store.put(mine, claim(owner=mine.owner))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, Written)]
    assert len(winners) == 1
    held = [outcome for outcome in outcomes if isinstance(outcome, Held)]
    assert len(held) == callers - 1
    assert {outcome.existing.owner for outcome in held} == {f"owner-{winners[0]}"}


EXISTING = st.builds(
    lambda status, fingerprint, lease, expires, response: receipt(
        status=status,
        fingerprint=fingerprint,
        lease_until=lease,
        expires_at=expires,
        response=response if status is Status.COMPLETED else None,
        outbox=receipt().outbox if status is Status.COMPLETED else None,
    ),
    st.sampled_from(Status),
    st.sampled_from([FINGERPRINT, OTHER]),
    st.sampled_from([0, NOW_MS - 1, NOW_MS, NOW_MS + 1]),
    st.sampled_from([NOW_MS - HOUR_MS, NOW_MS - 1, NOW_MS, NOW_MS + 1]),
    st.builds(StoredResponse, st.just(201), st.just({"Location": "/x"}), st.text(max_size=5)),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    existing=EXISTING, arrival=st.integers(NOW_MS - 2, NOW_MS + 2), clock=st.integers(NOW_MS - 2, NOW_MS + 2)
)
def test_every_store_decides_as_the_fake_does(
    make_store: Callable[[], ReceiptStore], existing: Receipt, arrival: int, clock: int
) -> None:
    fake, real = InMemoryReceipts(), make_store()
    mine = claim(arrival_ms=arrival, clock_ms=clock)
    for one in (fake, real):
        # Into an empty place whatever the item says: the builder's key is new for every example.
        assert isinstance(one.put(existing, claim(owner=existing.owner)), Written)
    assert real.put(MINE, mine) == fake.put(MINE, mine)
