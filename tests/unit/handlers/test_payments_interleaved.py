"""Payments whose processes overlap, fail and come late in any order: one charge, one answer, no key stuck."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.handlers.payment_world import LEASE_MS, Fault, World
from tests.unit.handlers.test_payments_crash_matrix import KINDS, STORE_KINDS, unmeasured, violations

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["unmeasured"]

WRITES = ("put", "take_over", "checkpoint", "complete", "release")
# How far the clock is when the next one comes: at once, when a lease is nearly over, when it is over.
LATER = st.sampled_from([0, 1, LEASE_MS - 1, LEASE_MS, 2 * LEASE_MS])
FAULT = st.one_of(
    st.tuples(st.sampled_from(WRITES), st.sampled_from(STORE_KINDS)),
    st.tuples(st.just("charge"), st.sampled_from((*KINDS, "denied"))),
)
# A process: what goes wrong in it, and who comes while it is at some point.
PROCESS = st.recursive(
    st.fixed_dictionaries({"faults": st.lists(FAULT, max_size=2)}),
    lambda inner: st.fixed_dictionaries(
        {
            "faults": st.lists(FAULT, max_size=1),
            "at": st.tuples(st.sampled_from((*WRITES, "charge")), st.sampled_from(["before", "after"])),
            "meanwhile": st.lists(st.tuples(LATER, inner), min_size=1, max_size=2),
        }
    ),
    max_leaves=4,
)


def live(world: World, process: dict[str, Any]) -> list[dict[str, Any] | None]:
    """The answers of a process and of all that came while it ran."""
    answers: list[dict[str, Any] | None] = []
    faults = [Fault(point, kind) for point, kind in process["faults"]]
    if "at" in process:
        point, when = process["at"]
        faults.insert(0, Fault(point, when, _others(world, process["meanwhile"], answers)))
    answers.append(world.pay(*faults))
    return answers


def _others(
    world: World, processes: list[tuple[int, dict[str, Any]]], answers: list[dict[str, Any] | None]
) -> Callable[[], None]:
    def come() -> None:
        for later, process in processes:
            world.now += later
            answers.extend(live(world, process))

    return come


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(processes=st.lists(st.tuples(LATER, PROCESS), min_size=1, max_size=3), checkpoint=st.booleans())
def test_however_processes_overlap_there_is_one_charge_and_one_answer(
    processes: list[tuple[int, dict[str, Any]]], checkpoint: bool
) -> None:
    world = World(checkpoint=checkpoint)
    answers: list[dict[str, Any] | None] = []
    _others(world, processes, answers)()
    world.now += LEASE_MS
    answers += [world.pay(), world.pay()]
    assert violations(world, answers) == []
