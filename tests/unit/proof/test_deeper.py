"""Walks at random: they are deep, the same for the same seed, and find what is planted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from handlers.domain.receipt import Status
from proof import deeper
from proof.accepting import lead, outward
from proof.appointments import appointment, appointments
from proof.deep_scenarios import DEEP, mixed_payments
from proof.state import FAULTS
from proof.working import Pending, work
from tests.fakes.slots import InMemorySlots

if TYPE_CHECKING:
    from collections.abc import Callable

    from _pytest.capture import CaptureFixture

    from handlers.domain.operation import Booking
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt
    from proof.scenario import Scenario

# A few seconds; `make proof` walks fifty times as far, by other seeds.
_WALKS = 120


def test_no_walk_through_many_attempts_and_faults_breaks_a_promise(capsys: CaptureFixture[str]) -> None:
    walked = deeper.run(_WALKS, seed=4)
    with capsys.disabled():
        print(
            f"\n  at random (seed {walked.seed}): {walked.walks:,} walks, {walked.different:,} different, "
            f"{walked.moves:,} moves, {sum(walked.faults.values()):,} faults, up to {walked.most_faults} each"
        )
    assert walked.passed, walked.story
    assert walked.walks >= _WALKS
    assert walked.different > _WALKS / 3
    assert walked.most_faults > 5
    assert {kind for kind in walked.faults if walked.faults[kind]} == FAULTS


def test_the_same_seed_walks_the_same_ways() -> None:
    scenarios = [partial(work, 4, 40, Pending(messages=2))]
    one, again = (deeper.run(20, 1, scenarios) for _ in range(2))
    other = deeper.run(20, 2, scenarios)
    assert one == again
    assert one != other


def test_every_family_is_walked_with_four_to_six_attempts() -> None:
    names = [make().name for make in DEEP]
    for family in ("payments", "outward, leads", "outward, orders", "appointments", "work of an order"):
        assert any(name.startswith(family) for name in names), family
    assert {len([one for one in make().actors if one.name in "ABCDEF"]) for make in DEEP} == {4, 5, 6}


def _free_while_it_runs(existing: Receipt, claim: Claim) -> bool:
    return existing.status is Status.IN_PROGRESS or existing.expires_at <= claim.arrival_ms


def _last_wins(self: InMemorySlots, tenant_id: str, slot: str, booking: Booking) -> None:
    self.taken[tenant_id, slot] = booking


def _whoever_is_at_it(item: Any, claim: Any) -> bool:
    return bool(item.status != claim.work.done)


def _forgetful(*_: object) -> None:
    return None


@pytest.mark.parametrize(
    ("planted", "scenario", "broken"),
    [
        (
            patch("tests.fakes.receipts._free", _free_while_it_runs),
            partial(mixed_payments, checkpoint=False),
            "opened a second window inside the first",
        ),
        (
            patch("handlers.dispatch._park", _forgetful),
            partial(outward, [lead()] * 4, 40),
            "was never published",
        ),
        (
            patch.object(InMemorySlots, "take", _last_wins),
            partial(appointments, [appointment("ada"), appointment("bob")] * 2, 40),
            "two patients have one slot",
        ),
        (
            patch("tests.fakes.work._free", _whoever_is_at_it),
            partial(work, 4, 40, Pending(messages=2)),
            "claimed work that",
        ),
    ],
)
def test_what_is_planted_is_found_and_told(
    planted: Any, scenario: Callable[[], Scenario], broken: str
) -> None:
    with planted:
        walked = deeper.run(300, 0, [scenario])
    assert not walked.passed
    assert broken in walked.story
    assert "BROKEN" in walked.story
