"""The search at the size of `make test`: it visits everything, counts honestly, and finds what is broken."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from proof import running
from proof.interning import Interner, frozen
from proof.payments import payments
from proof.ports import Applied
from proof.programs import Call, Life, Raised, Runs
from proof.provider import HONOURS_MS
from proof.receipt_changes import LIVES_MS
from proof.requests import unmeasured
from proof.scenario import Actor, Scenario, Seen
from proof.scenarios import FULL, QUICK
from proof.search import search
from proof.state import FAULTS, Kind, Move
from proof.world import World

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from _pytest.capture import CaptureFixture


@pytest.mark.parametrize("number", range(len(QUICK)))
def test_no_schedule_of_the_real_code_breaks_a_promise(number: int, capsys: CaptureFixture[str]) -> None:
    report = running.report(QUICK[number]())
    with capsys.disabled():
        print(
            f"\n  {report.scenario}: {report.states:,} states, {report.schedules:,} schedules, "
            f"{sum(report.faults.values()):,} faults: {report.violations} violations"
        )
    assert report.passed, report.story
    assert report.states > 100
    assert set(report.faults) >= {kind.name for kind in FAULTS} - {Kind.LAPSE.name}


# How the names of their scenarios begin, and the bounds that each is searched within: attempts, and faults.
_FAMILIES = {
    "payments:": {(2, 3), (3, 2)},
    "payments, checkpoint:": {(2, 3), (3, 2)},
    "payments, two bodies:": {(2, 3), (3, 2)},
    "payments, two tenants:": {(2, 3), (3, 2)},
    "payments, declined:": {(2, 3), (3, 2)},
    "payments, clocks off": {(2, 3)},
    "accept, leads:": {(2, 3), (3, 2)},
    "accept, leads, clocks off": {(2, 3)},
    "accept, leads, 2 bodies:": {(3, 3)},
    "accept, leads, 2 tenants:": {(3, 3)},
    "accept, orders:": {(3, 3)},
    "accept, leads and orders, 2 bodies:": {(2, 3), (3, 2)},
    "accept, webhooks, 2 bodies:": {(2, 3)},
    "accept, webhooks, 2 sources:": {(3, 2)},
    "accept, webhooks, 2 tenants:": {(3, 2)},
    "outward, leads:": {(2, 3), (3, 2)},
    "outward, leads, 2 bodies:": {(2, 3)},
    "outward, leads, 2 tenants:": {(2, 2)},
    "outward, leads, twin dispatchers:": {(2, 2)},
    "outward, orders:": {(2, 3), (3, 2)},
    "outward, webhooks, 2 bodies:": {(2, 2)},
    "outward, payments:": {(1, 3), (2, 2)},
    "appointments:": {(2, 3)},
    "appointments, clocks off": {(2, 3)},
    "appointments, 2 patients:": {(2, 3), (3, 2)},
    "appointments, 2 bodies:": {(2, 3)},
    "appointments, 2 tenants:": {(2, 2)},
    "work of an order:": {(2, 3)},
    "work of an order, 2 messages:": {(3, 2)},
    "work of a webhook:": {(2, 3)},
    "work of a webhook, 2 messages:": {(3, 2)},
    "work of an order, 1 reconciler:": {(1, 3)},
    "work of an order, 2 reconcilers:": {(2, 2)},
}


@pytest.mark.parametrize(("begins", "wanted"), _FAMILIES.items())
def test_the_full_search_goes_as_far_in_each_family_as_is_said(
    begins: str, wanted: set[tuple[int, int]]
) -> None:
    sizes = [re.search(r": (\d+) attempts?, up to (\d+) fault", make().name) for make in FULL]
    names = [make().name for make in FULL]
    assert len(set(names)) == len(names)
    found = {
        (int(size[1]), int(size[2]))
        for name, size in zip(names, sizes, strict=True)
        if size and name.startswith(begins)
    }
    assert found >= wanted


@pytest.mark.parametrize(("lives_ms", "charges"), [(LIVES_MS, 1), (60_000, 2)])
def test_an_attempt_is_gone_before_it_could_charge_under_a_key_that_is_forgotten(
    lives_ms: int, charges: int
) -> None:
    """The last takeover that sends, stopped before its POST: what the margins are for is in the model."""
    scenario = payments(2, 2)
    world = World(replace(scenario, actors=tuple(replace(one, lives_ms=lives_ms) for one in scenario.actors)))
    state, forgets = world.initial(), scenario.begins_ms + HONOURS_MS
    first = [Move(Kind.START, 0), Move(Kind.STEP, 0), Move(Kind.STEP, 0)]
    second = [Move(Kind.START, 1), Move(Kind.STEP, 1), Move(Kind.STEP, 1)]
    with unmeasured():
        for move in (
            *first,
            Move(Kind.CLOCK, detail=forgets - LIVES_MS - 1),
            *second,
            Move(Kind.CLOCK, detail=forgets),
            Move(Kind.STEP, 1),
        ):
            if move in world.moves(state):
                state, _ = world.after(state, move)
        provider = world.seen(state).ports["provider"]
    assert state.now == forgets
    assert len(provider) == charges


class Counter:
    """A port whose calls add; with `breaks_at`, that sum breaks a promise."""

    name = "counter"
    resends = False

    def __init__(self, breaks_at: int | None = None) -> None:
        self._breaks_at = breaks_at

    def initial(self) -> tuple[str, ...]:
        return ()

    def apply(self, state: tuple[str, ...], call: Call, now: int) -> Applied:
        after = (*state, call.arguments[0])
        broken = ("too many",) if len(after) == self._breaks_at else ()
        return Applied(after, len(after), broken)

    def unreached(self, call: Call) -> Raised | None:
        return None

    def unanswered(self, call: Call) -> Raised | None:
        return None

    def instants(self, state: Any) -> Iterable[int]:
        return ()

    def lapses(self, state: Any, now: int) -> Iterable[tuple[str, Any, tuple[str, ...]]]:
        return ()


class NoRules:
    judged_before: frozenset[str] = frozenset()

    def before(self, seen: Seen, actor: str, call: Call) -> Iterator[str]:
        return iter(())

    def finished(self, seen: Seen, actor: str, started_ms: int, answer: Any) -> Iterator[str]:
        return iter(())

    def settled(self, seen: Seen) -> Iterator[str]:
        return iter(())


def _adding(times: int) -> Any:
    def program(life: Life) -> int:
        return sum(life.ask("counter", "add", f"{life.name}{number}") for number in range(times))

    return program


def _two(calls: int, faults: int = 0, breaks_at: int | None = None) -> Scenario:
    actors = tuple(Actor(name, name, _adding(calls)) for name in "AB")
    return Scenario("adding", actors, (Counter(breaks_at),), NoRules(), 0, faults)


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_every_order_of_two_programs_is_one_schedule(calls: int) -> None:
    found = search(_two(calls))
    moves = [1 + calls] * 2  # of each: it starts, and makes its calls
    orders = {order for order in product("AB", repeat=sum(moves)) if order.count("A") == moves[0]}
    assert found.complete
    assert found.schedules == len(orders)


def test_each_crash_is_tried_before_and_after_each_call() -> None:
    found = search(_two(1, faults=1))
    tried = {kind.name: count for kind, count in found.faults.items()}
    # Whoever is at its call may crash there, whatever the other has done: not begun, at its call, done.
    assert tried == {"CRASH_BEFORE": 6, "CRASH_AFTER": 6}


def test_the_first_violation_is_by_the_fewest_moves_and_leads_there_again() -> None:
    found = search(_two(3, faults=2, breaks_at=2))
    assert found.broken == ("too many",)
    assert [move.kind for move in found.moves] == [Kind.START, Kind.STEP, Kind.STEP]
    assert not found.complete


def test_a_search_that_gave_up_is_not_complete() -> None:
    with unmeasured():
        found = search(payments(2, 2), most_states=200)
    assert not found.complete
    assert not running.Report("", 0, 0, 0, {}, 0.0, found.complete, 0, "").passed


def test_a_program_is_run_once_for_each_different_past() -> None:
    interner = Interner()
    runs = Runs(interner)
    program = _adding(2)
    node = runs.start(0, "A", program, 0, 5)
    one, two = interner.number(1), interner.number(2)
    after = runs.answered(node, one, 5)
    assert runs.answered(node, one, 5) == after
    assert runs.answered(node, two, 5) != after
    assert runs.executions == 3
    done = runs.answered(after, two, 6)
    assert interner.value(runs.content(done)).answer == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0, False),
        ((1,), [1]),
        ("1", 1),
        ("1", b"1"),
        (None, ()),
        ({"a": 1}, (("a", 1),)),
    ],
)
def test_values_that_python_calls_equal_or_that_look_alike_have_numbers_of_their_own(
    one: Any, other: Any
) -> None:
    interner = Interner()
    assert interner.number(one) != interner.number(other)
    assert interner.number(one) == interner.number(one)


def test_a_program_that_goes_on_after_a_call_without_an_answer_is_no_program() -> None:
    def program(life: Life) -> str:
        try:
            life.ask("counter", "add", "A")
        except BaseException:  # noqa: BLE001 - what no program may do
            return "done"
        return "never"

    with pytest.raises(AssertionError, match="A went on after a call that was not answered: add"):
        Runs(Interner()).start(0, "A", program, 0, 5)


def test_what_has_no_key_is_refused() -> None:
    with pytest.raises(TypeError, match="no key for a object"):
        frozen(object())
