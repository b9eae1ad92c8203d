"""The order that explains what the clients of one key heard: found where there is one, and only there."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadtest.expected import Expected
from loadtest.linearizability import search
from loadtest.operations import PAYMENTS
from loadtest.sequential import Call, Rules, Says
from loadtest.unordered import explain, smallest
from tests.unit.storm.one_key import call, has_order, history, mutated
from tests.unit.storm.test_plan import SETTINGS

if TYPE_CHECKING:
    import random

FIRST, AGAIN, MISMATCH, RUNNING, UNSEEN = Says
ACCEPT, EXECUTE = Rules(), Rules(executes=True)
WEBHOOK = Rules(one_body=False)
EVERY = {"accept": ACCEPT, "execute": EXECUTE, "webhook": WEBHOOK}
# Where clocks are off by a minute and a half: a lease may be no time at all, and three minutes longer.
SKEWED = Expected("local", Counter(), skew_ms=90_000.0).rules(PAYMENTS)
# Leases of the length of what hypothesis makes, by one clock and by several.
LEASES = {
    "short leases": Rules(executes=True, least_lease_ms=10.0, longest_claim_ms=60.0),
    "several clocks": Rules(executes=True, least_lease_ms=10.0, longest_claim_ms=60.0, tolerance_ms=15.0),
    "accept, several clocks": Rules(tolerance_ms=15.0),
}
ALL = EVERY | LEASES

VALID: dict[str, tuple[Rules, list[Call]]] = {
    "a replay that overlaps the first answer, and was heard before it": (
        ACCEPT,
        [call("new", FIRST, 0, 30), call("again", AGAIN, 5, 10)],
    ),
    "nobody heard the first answer": (ACCEPT, [call("hung up", UNSEEN, 0, 1), call("again", AGAIN, 50, 60)]),
    "a request takes effect long after its client gave up": (
        ACCEPT,
        [
            call("gave up", UNSEEN, 0, 1, body="late"),
            call("new", UNSEEN, 2, 3),
            call("422", MISMATCH, 90, 99),
        ],
    ),
    "a claim runs from before one 409 until after another": (
        EXECUTE,
        [call("new", FIRST, 0, 90), call("409", RUNNING, 1, 2), call("409 too", RUNNING, 80, 89)],
    ),
    "a claim that nobody saw the end of, taken over": (
        EXECUTE,
        [call("502", UNSEEN, 0, 9), call("409", RUNNING, 10, 19), call("new", FIRST, 20, 29)],
    ),
    "an owner who lost its lease answers what its successor did": (
        EXECUTE,
        [call("slow", AGAIN, 0, 9_000), call("409", RUNNING, 10, 20), call("new", FIRST, 8_000, 8_500)],
    ),
    "another body is refused while the first still runs": (
        EXECUTE,
        [call("new", FIRST, 0, 90), call("422", MISMATCH, 1, 2, body="other")],
    ),
    "a webhook with another body is a duplicate": (
        WEBHOOK,
        [call("new", FIRST, 0, 9), call("200", AGAIN, 10, 19, body="other")],
    ),
    "a 409 within the lease of one that hung up": (
        EXECUTE,
        [call("hung up", UNSEEN, 0, 1), call("409", RUNNING, 67_000, 67_010)],
    ),
    "a 409 by an owner who lost its lease to one that came later": (
        EXECUTE,
        [call("slow", RUNNING, 0, 9_000), call("409", RUNNING, 10, 20), call("new", FIRST, 8_000, 9_500)],
    ),
    "owners who lose their lease one after the other": (
        EXECUTE,
        [
            call("slow", RUNNING, 0, 7_000),
            call("slow too", RUNNING, 6_000, 13_000),
            call("409", RUNNING, 10, 20),
            call("new", FIRST, 12_000, 12_900),
        ],
    ),
    "a quick 409 to an owner whose lease was over by another's clock": (
        SKEWED,
        [call("lost", RUNNING, 0, 400), call("409", RUNNING, 10, 20), call("new", FIRST, 100, 500)],
    ),
    "a lease of minutes by another's clock": (
        SKEWED,
        [call("hung up", UNSEEN, 0, 1), call("409", RUNNING, 240_000, 240_010)],
    ),
}

# What counting does not see: each of these has one first answer, and replays that equal it.
PLANTED: dict[str, tuple[Rules, list[Call], set[str]]] = {
    "a replay was heard before the first request was sent": (
        ACCEPT,
        [call("new", FIRST, 40, 70), call("again", AGAIN, 0, 30), call("later", AGAIN, 80, 90)],
        {"again"},
    ),
    "a 422 was heard before the other body was sent": (
        ACCEPT,
        [call("422", MISMATCH, 0, 10, body="other"), call("new", FIRST, 20, 30), call("too", AGAIN, 40, 50)],
        {"422"},
    ),
    "a 409 in progress after the first was done": (
        EXECUTE,
        [call("new", FIRST, 0, 30), call("409 then", RUNNING, 5, 10), call("409", RUNNING, 31, 40)],
        {"409"},
    ),
    "a 409 in progress after a replay was heard": (
        EXECUTE,
        [call("502", UNSEEN, 0, 9), call("again", AGAIN, 10, 19), call("409", RUNNING, 20, 29)],
        {"again", "409"},
    ),
    "a 409 in progress before any request that could run": (
        EXECUTE,
        [call("409", RUNNING, 0, 10), call("new", FIRST, 20, 30)],
        {"409"},
    ),
    "a quick replay explains no 409 by a lost lease": (
        EXECUTE,
        [call("again", AGAIN, 0, 400), call("409", RUNNING, 10, 20), call("new", FIRST, 100, 300)],
        {"409"},
    ),
    "two windows within one": (
        ACCEPT,
        [call("new", FIRST, 0, 10), call("newer", FIRST, 20, 30, answer="B")],
        {"new", "newer"},
    ),
    "the unseen request can have taken the key with one body only": (
        ACCEPT,
        [
            call("gave up", UNSEEN, 0, 1),
            call("422", MISMATCH, 10, 19, body="b"),
            call("again", AGAIN, 20, 29),
        ],
        {"422"},
    ),
    "a first answer to a body that a replay had not": (
        EXECUTE,
        [call("502", UNSEEN, 0, 9), call("again", AGAIN, 10, 19), call("new", FIRST, 20, 29)],
        {"again", "new"},
    ),
    "a 409 of six seconds that nobody's claim explains": (EXECUTE, [call("409", RUNNING, 0, 6_000)], {"409"}),
    "a 409 that nobody's claim explains, where clocks are off": (
        SKEWED,
        [call("409", RUNNING, 0, 10)],
        {"409"},
    ),
    "409s that have but each other": (
        EXECUTE,
        [call("409", RUNNING, 0, 6_000), call("409 too", RUNNING, 10, 6_100)],
        {"409 too"},
    ),
    "409s that have but each other, where clocks are off": (
        SKEWED,
        [call("409", RUNNING, 0, 10), call("409 too", RUNNING, 5, 15)],
        {"409 too"},
    ),
    "a key that is stuck for ten minutes": (
        EXECUTE,
        [
            call("502", UNSEEN, 0, 9),
            *(call(f"409 {n}", RUNNING, n * 60_000, n * 60_000 + 9) for n in range(11)),
        ],
        {"409 10"},
    ),
    "a key that is stuck for ten minutes, where clocks are off": (
        SKEWED,
        [
            call("502", UNSEEN, 0, 9),
            *(call(f"409 {n}", RUNNING, n * 60_000, n * 60_000 + 9) for n in range(11)),
        ],
        {"409 10"},
    ),
    "a slow replay of nobody's answer": (EXECUTE, [call("again", AGAIN, 0, 9_000)], {"again"}),
    "a replay before anybody came who could have done it": (
        EXECUTE,
        [call("slow", AGAIN, 0, 9_000), call("again", AGAIN, 10, 20), call("hung up", UNSEEN, 8_000, 8_500)],
        {"again"},
    ),
    "a claim of another body explains no 409": (
        EXECUTE,
        [call("409", RUNNING, 0, 10), call("new", FIRST, 0, 10, body="other")],
        {"409"},
    ),
}


@pytest.mark.parametrize(("rules", "calls"), VALID.values(), ids=VALID)
def test_what_the_contract_allows_has_an_order(rules: Rules, calls: list[Call]) -> None:
    assert search(rules, calls).ordered is True


@pytest.mark.parametrize(("rules", "calls", "named"), PLANTED.values(), ids=PLANTED)
def test_what_counting_does_not_see_has_no_order_and_is_named(
    rules: Rules, calls: list[Call], named: set[str]
) -> None:
    assert search(rules, calls).ordered is False
    assert {one.attempt_id for one in smallest(rules, calls).calls} == named
    text = explain(rules, calls)
    assert all(f"{name} with body" in text for name in named)


@given(st.randoms(use_true_random=False), st.sampled_from([*ALL]), st.integers(1, 40))
@settings(max_examples=300, deadline=None)
def test_whatever_a_right_platform_answers_has_an_order(
    dice: random.Random, name: str, attempts: int
) -> None:
    rules = ALL[name]
    calls = history(dice, rules, attempts, ["x", "y"] if dice.random() < 0.7 else ["x"])
    assert search(rules, calls).ordered is True, calls


@given(st.randoms(use_true_random=False), st.sampled_from([*ALL]), st.integers(2, 6), st.integers(0, 3))
@settings(max_examples=500, deadline=None)
def test_a_changed_history_is_judged_as_trying_all_orders_judges_it(
    dice: random.Random, name: str, attempts: int, changes: int
) -> None:
    calls = history(dice, ALL[name], attempts, ["x", "y"])
    for _ in range(changes):
        calls = mutated(dice, calls)
    calls = calls[:6]
    assert search(ALL[name], calls).ordered is has_order(ALL[name], calls), calls


def test_trying_all_orders_refuses_what_is_planted() -> None:
    """Else the comparison with it would say nothing."""
    for name, (rules, calls, _) in PLANTED.items():
        assert not has_order(rules, calls), name


@pytest.mark.parametrize("duplicates", [500, 5_000])
def test_hundreds_of_overlapping_duplicates_need_a_few_positions(duplicates: int) -> None:
    calls = [call("new", FIRST, 100, 2_000)]
    calls += [call(f"409-{n}", RUNNING, n / 10, 1_000 + n / 10) for n in range(duplicates)]
    calls += [call(f"again-{n}", AGAIN, n / 10, 2_000 + n / 10) for n in range(duplicates)]
    calls += [call(f"422-{n}", MISMATCH, n / 10, 1_000 + n, body="other") for n in range(duplicates)]
    assert search(EXECUTE, calls).positions < 10
    calls.append(call("409-late", RUNNING, 2_100, 2_200))
    assert search(EXECUTE, calls).positions < 10
    assert {one.attempt_id for one in smallest(EXECUTE, calls).calls} == {"409-late"}
    assert "no other attempt can have held its claim then" in explain(EXECUTE, calls)


def test_hundreds_of_first_answers_are_tried_one_by_one() -> None:
    calls = [call(f"new-{n}", FIRST, n, 900 + n, answer=f"A{n}") for n in range(300)]
    found = search(ACCEPT, calls)
    assert found.ordered is False
    assert found.positions <= 2 * len(calls)


def test_a_search_that_is_given_up_says_neither_yes_nor_no() -> None:
    calls = [call(f"new-{n}", FIRST, n, 900 + n, answer=f"A{n}") for n in range(30)]
    assert search(ACCEPT, calls, most_positions=5).ordered is None


@pytest.mark.parametrize("faults", [False, True])
def test_leases_are_as_exact_as_the_clocks_and_no_worse_for_faults_alone(faults: bool) -> None:
    exact = Expected.of(replace(SETTINGS, faults=faults), []).rules(PAYMENTS)
    assert (exact.least_lease_ms, exact.longest_claim_ms) == (5_000.0, 68_000.0)
    assert search(exact, [call("409", RUNNING, 0, 400), call("new", FIRST, 10_000, 10_100)]).ordered is False
    off = Expected.of(replace(SETTINGS, faults=faults, skew_seconds=1), []).rules(PAYMENTS)
    assert (off.least_lease_ms, off.longest_claim_ms) == (3_000.0, 70_000.0)


def test_stamps_of_several_clocks_are_given_their_tolerance() -> None:
    calls = [call("new", FIRST, 100, 130), call("again", AGAIN, 0, 50)]
    assert search(Rules(tolerance_ms=50.0), calls).ordered is True
    assert search(Rules(tolerance_ms=49.0), calls).ordered is False
