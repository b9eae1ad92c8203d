from __future__ import annotations

import itertools

import pytest

from handlers.domain.protocol import InProgress, Lapsed, Mismatch, Replay, Won, decide
from handlers.domain.receipt import MIN_KEPT_SECONDS, Status, StoredResponse, purge_at
from tests.builders import HOUR_MS, NOW_MS, claim, in_progress, receipt

OTHER = "b" * 64


def test_an_own_write_is_won_whatever_else_the_item_says() -> None:
    for mine in (receipt(owner="owner-new"), in_progress(owner="owner-new", fingerprint=OTHER)):
        assert decide(mine, claim()) == Won()


def test_a_finished_request_is_replayed() -> None:
    existing = receipt()
    assert decide(existing, claim()) == Replay(existing, existing.response or _fail())


@pytest.mark.parametrize("existing", [receipt(fingerprint=OTHER), in_progress(fingerprint=OTHER)])
def test_another_body_or_operation_is_a_mismatch_also_while_the_first_runs(existing: object) -> None:
    assert isinstance(existing, type(receipt()))
    assert decide(existing, claim()) == Mismatch("leads")


@pytest.mark.parametrize(("left_ms", "seconds"), [(1, 1), (1_000, 1), (1_001, 2), (29_999, 30)])
def test_a_running_request_says_how_long_its_lease_lasts(left_ms: int, seconds: int) -> None:
    assert decide(in_progress(lease_until=NOW_MS + left_ms), claim()) == InProgress(seconds)


@pytest.mark.parametrize("lease_until", [0, NOW_MS - 1, NOW_MS])
def test_a_lapsed_claim_of_the_same_request_is_there_to_be_taken_over(lease_until: int) -> None:
    existing = in_progress(lease_until=lease_until)
    assert decide(existing, claim()) == Lapsed(existing)


def test_every_item_gets_exactly_one_decision_and_only_an_own_write_is_won() -> None:
    for status, fingerprint, owner, lease, expires in itertools.product(
        Status, ("a" * 64, OTHER), ("owner-old", "owner-new"), (0, NOW_MS + 5), (NOW_MS - HOUR_MS, NOW_MS + 1)
    ):
        existing = receipt(
            status=status,
            fingerprint=fingerprint,
            owner=owner,
            lease_until=lease,
            expires_at=expires,
            response=StoredResponse(201, {}, "") if status is Status.COMPLETED else None,
        )
        decision = decide(existing, claim())
        assert isinstance(decision, Won) == (owner == "owner-new")
        if owner == "owner-old":
            assert isinstance(decision, Mismatch) == (fingerprint == OTHER)


def test_ttl_never_comes_before_eight_days_or_the_window_s_end() -> None:
    assert purge_at(NOW_MS, NOW_MS + 10_000) == NOW_MS // 1000 + MIN_KEPT_SECONDS
    thirty_days_ms = 30 * 86_400_000
    assert purge_at(NOW_MS, NOW_MS + thirty_days_ms) * 1000 > NOW_MS + thirty_days_ms
    last_ms = NOW_MS + 999
    assert purge_at(last_ms, last_ms + 10_000) * 1000 >= last_ms + MIN_KEPT_SECONDS * 1000


def _fail() -> StoredResponse:
    raise AssertionError("the builder gives a response")
