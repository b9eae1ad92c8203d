"""`onceward receipts show` and `evict`: what is said of a receipt, and what may take it away."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from handlers.adapters.receipt_item import to_item
from handlers.domain import ids, keys
from handlers.domain.receipt import StoredResponse
from ops import asking, evicting
from ops.receipts import Eviction, Receipts, may_be_running
from tests import builders
from tests.unit.ops.receipts_stage import NOW_MS, ReceiptsStage, accepted_receipt

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt

LEASE_MS = builders.HOUR_MS


def running(**changes: Any) -> Receipt:
    """A claim whose owner may still be at it."""
    return builders.in_progress(created_at=NOW_MS, **{"lease_until": NOW_MS + LEASE_MS} | changes)


def test_a_receipt_is_shown_without_its_payload(receipts_stage: ReceiptsStage) -> None:
    receipts_stage.put(accepted_receipt(response=StoredResponse(201, {}, '{"secret":"Ada"}')))

    result = receipts_stage.receipts("show", "acme", "k", "--json")

    assert result.exit_code == 0
    shown = json.loads(result.stdout)
    assert {name: shown[name] for name in ("status", "operation", "recordId", "eventId", "response")} == {
        "status": "COMPLETED",
        "operation": "leads",
        "recordId": "R",
        "eventId": "EVENT",
        "response": {"status": 201},
    }
    assert "Ada" not in result.stdout
    assert "Ada" not in receipts_stage.receipts("show", "acme", "k").stdout


def test_the_first_answer_is_shown_when_it_is_asked_for(receipts_stage: ReceiptsStage) -> None:
    receipts_stage.put(accepted_receipt())
    shown = json.loads(receipts_stage.receipts("show", "acme", "k", "--response", "--json").stdout)
    assert shown["response"]["body"] == '{"id":"R"}'


def test_a_claim_in_progress_shows_the_ids_that_it_will_have(receipts_stage: ReceiptsStage) -> None:
    claim = running()
    receipts_stage.put(claim)
    shown = json.loads(receipts_stage.receipts("show", "acme", "k", "--json").stdout)
    assert shown["recordId"] == ids.record_id("acme", "k", claim.generation, claim.created_at)
    assert shown["mayBeRunning"] is True
    assert shown["response"] is None


def test_a_key_that_the_platform_made_can_be_named(receipts_stage: ReceiptsStage) -> None:
    receipts_stage.put(accepted_receipt(key=keys.derived("webhooks", "stripe", "evt_1")))
    result = receipts_stage.receipts("show", "acme", "--derived", "webhooks", "stripe", "evt_1")
    assert result.exit_code == 0
    assert "webhooks:stripe:evt_1" in result.stdout


@pytest.mark.parametrize("command", ["show", "evict", "explain"])
def test_a_free_key_is_said_to_be_free(receipts_stage: ReceiptsStage, command: str) -> None:
    result = receipts_stage.receipts(command, "nobody", "k")
    assert result.exit_code == 1
    assert "has no receipt under this key, and stage local has no tenant of this name" in result.stderr


NONSENSE = (
    ("acme",),
    ("acme", "k", "--derived", "leads", "body", "x"),
    ("acme", "a key"),
    ("A#", "k"),
    ("acme", "k", "--stage", "qa"),
)


def test_nonsense_is_a_usage_error(receipts_stage: ReceiptsStage) -> None:
    codes = {arguments: receipts_stage.receipts("show", *arguments).exit_code for arguments in NONSENSE}
    assert set(codes.values()) == {2}, codes


def test_evicting_says_what_follows_and_frees_the_key(receipts_stage: ReceiptsStage) -> None:
    receipts_stage.put(accepted_receipt())
    result = receipts_stage.receipts("evict", "acme", "k", "--yes")
    assert result.exit_code == 0
    assert (
        "If you evict it, the key is free: the next request with it takes effect, whatever came of this one"
        in result.stdout
    )
    assert "Its record is not written yet." in result.stdout
    assert receipts_stage.item("acme", "k") is None


def test_nothing_is_evicted_unasked(receipts_stage: ReceiptsStage, monkeypatch: pytest.MonkeyPatch) -> None:
    receipts_stage.put(accepted_receipt())
    result = receipts_stage.receipts("evict", "acme", "k")
    assert result.exit_code == 1
    assert "Not evicted: --yes does it without asking." in result.stderr
    monkeypatch.setattr(asking, "at_a_terminal", lambda: True)
    assert receipts_stage.receipts("evict", "acme", "k", typed="n\n").exit_code == 1
    assert receipts_stage.item("acme", "k") is not None
    assert receipts_stage.receipts("evict", "acme", "k", typed="y\n").exit_code == 0
    assert receipts_stage.item("acme", "k") is None


def test_a_live_lease_is_refused_unless_forced(receipts_stage: ReceiptsStage) -> None:
    receipts_stage.put(running())
    result = receipts_stage.receipts("evict", "acme", "k", "--yes")
    assert result.exit_code == 1
    assert "its owner may still be running" in result.stderr
    assert receipts_stage.item("acme", "k") is not None
    forced = receipts_stage.receipts("evict", "acme", "k", "--yes", "--force", "--json")
    assert json.loads(forced.stdout) == {"outcome": "evicted"}


def test_a_lease_that_is_over_by_our_clock_alone_counts_as_live() -> None:
    claim = builders.in_progress(lease_until=builders.NOW_MS)
    assert may_be_running(claim, builders.NOW_MS + 4_999)
    assert not may_be_running(claim, builders.NOW_MS + 5_000)
    assert not may_be_running(builders.receipt(lease_until=builders.NOW_MS), builders.NOW_MS)


def test_a_released_claim_can_be_evicted_and_it_says_what_may_have_happened(
    receipts_stage: ReceiptsStage,
) -> None:
    receipts_stage.put(running(lease_until=0))
    result = receipts_stage.receipts("evict", "acme", "k", "--yes")
    assert result.exit_code == 0
    assert "once evicted, it acts anew under another (a second charge)" in result.stdout


@pytest.mark.parametrize(
    "changed",
    [
        {"owner": "another"},
        {"lease_until": NOW_MS + 2 * LEASE_MS},
        {"status": builders.receipt().status, "lease_until": 0},
    ],
    ids=["taken over", "lease moved", "completed"],
)
def test_what_changed_since_it_was_shown_stays(
    receipts_stage: ReceiptsStage, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    receipts_stage.put(running(lease_until=0))

    def meanwhile(*_arguments: Any, **_options: Any) -> bool:
        receipts_stage.put(running(**{"lease_until": 0} | changed))
        return True

    monkeypatch.setattr(evicting, "confirmed", meanwhile)
    result = receipts_stage.receipts("evict", "acme", "k")
    assert result.exit_code == 1
    assert "it has changed since it was shown" in result.stderr
    assert receipts_stage.item("acme", "k") is not None


def test_an_eviction_whose_first_answer_was_lost_is_one(receipts_stage: ReceiptsStage) -> None:
    receipts_stage.put(accepted_receipt())
    store = Receipts(receipts_stage.dynamodb, "onceward-local_receipts", "onceward-local_records")
    shown = store.find("acme", "k")
    assert shown is not None
    assert store.evict(shown) is Eviction.EVICTED
    assert store.evict(shown) is Eviction.GONE


def test_an_item_that_is_no_receipt_is_one_line(receipts_stage: ReceiptsStage) -> None:
    item = to_item(accepted_receipt())
    del item["owner"]
    receipts_stage.dynamodb.put_item(TableName="onceward-local_receipts", Item=item)
    result = receipts_stage.receipts("show", "acme", "k")
    assert result.exit_code == 2
    assert "an item of the receipts table is no receipt: owner" in result.stderr
