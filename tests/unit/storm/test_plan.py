"""The plan: as many requests and keys as asked for, every scenario, reproducible, dealt without loss."""

from __future__ import annotations

import tracemalloc
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from loadtest.bodies import stored_key
from loadtest.plan import plan
from loadtest.run import RunSettings
from loadtest.schedule import PlannedRequest, Scenario, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SETTINGS = RunSettings(
    run_id="abc123",
    stage="local",
    seed=7,
    requests=6000,
    keys=200,
    tenants=("storm-a", "storm-b", "storm-c"),
    rate=120.0,
    burst=8,
    users=8,
)
SMALL = replace(SETTINGS, requests=300, keys=20)
WIDE = replace(SETTINGS, requests=20_000, keys=900, burst=64, tenants=("a1", "b1", "c1", "d1"))
# Several chapters, and more tenants than a burst has clients.
LONG = replace(SETTINGS, requests=20_000, keys=2_000, tenants=tuple(f"t{number:02}" for number in range(20)))

SOAK = replace(
    LONG,
    requests=200_000,
    keys=20_000,
    operations=("leads", "orders", "webhooks", "payments", "appointments"),
)
# A chapter is some 5,000 requests, most of them again the same few; all 200,000 steps at once are over 10 MB.
MOST_BYTES = 4_000_000


def _key(settings: RunSettings, request: PlannedRequest) -> str:
    return stored_key(settings.key_prefix, request)


@pytest.mark.parametrize("settings", [SETTINGS, SMALL, WIDE, LONG])
def test_it_has_exactly_the_requests_and_the_keys_asked_for(settings: RunSettings) -> None:
    requests = list(plan(settings).requests())
    assert len(requests) == settings.requests
    assert len({_key(settings, one) for one in requests}) == settings.keys


@pytest.mark.parametrize("settings", [SETTINGS, SMALL, WIDE, LONG])
def test_every_scenario_and_every_tenant_has_its_part(settings: RunSettings) -> None:
    made = plan(settings)
    others = {Scenario.CROSS_SOURCE, Scenario.SLOT}
    assert {step.scenario for step in (*made.warm_up, *made.steps)} == set(Scenario) - others
    assert {one.tenant for one in made.requests()} == set(settings.tenants)


def test_keys_that_would_outlast_their_windows_make_no_plan() -> None:
    slow = replace(SETTINGS, rate=3.0)  # one chapter of 6,000 requests
    with pytest.raises(ValueError, match=r"for 1994 s, .* give at least 3\.32"):
        plan(slow)
    plan(replace(slow, rate=3.4))
    chapters = replace(LONG, rate=10.0)  # four of 5,000 requests
    plan(chapters)
    with pytest.raises(ValueError, match="for 2000 s"):
        plan(replace(chapters, faults=True))  # where every key is sent again at the end


def test_every_key_of_the_run_starts_with_its_id() -> None:
    keys = [one.key for one in plan(SETTINGS).requests() if one.key]
    assert keys
    assert all(key.startswith("storm-abc123-") for key in keys)


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    for settings in (SETTINGS, LONG):
        made = plan(settings)
        assert list(made.requests()) == list(plan(settings).requests())
        assert list(made.steps) == list(made.steps), "the same each time that it is asked for"
        assert list(made.steps) != list(plan(replace(settings, seed=8)).steps)


@pytest.mark.parametrize("shares", [1, 2, 3, 7])
def test_the_shares_of_the_workers_together_are_the_plan(shares: int) -> None:
    for whole in (plan(SETTINGS), plan(LONG)):
        dealt = [whole.share(index, shares) for index in range(shares)]
        assert Counter(step for share in dealt for step in share.steps) == Counter(whole.steps)
        assert Counter(step for share in dealt for step in share.warm_up) == Counter(whole.warm_up)


@pytest.mark.parametrize(("index", "shares"), [(2, 2), (1, 1), (-1, 3)])
def test_a_worker_beyond_the_plan_is_refused(index: int, shares: int) -> None:
    with pytest.raises(ValueError, match=f"share {index}"):
        plan(SETTINGS).share(index, shares)


def test_a_duplicate_storm_sends_one_key_from_many_clients_at_once() -> None:
    bursts = [one for one in _steps(Scenario.DUPLICATE) if one.together]
    assert max(len(one.requests) for one in bursts) == SETTINGS.burst
    assert all(len(set(one.requests)) == 1 for one in bursts)
    keys = Counter(one.requests[0].key for one in _steps(Scenario.DUPLICATE))
    assert len(keys) > SETTINGS.keys / 3, "duplicates are what most keys are for"


def test_a_retry_storm_hangs_up_before_it_retries_with_the_same_key() -> None:
    steps = _steps(Scenario.RETRY)
    assert steps
    for step in steps:
        *dropped, last = step.requests
        assert not step.together
        assert dropped
        assert all(one.drop_after_ms is not None for one in dropped)
        assert last.drop_after_ms is None
        assert len({(one.tenant, one.key, one.subject, one.variant) for one in step.requests}) == 1


def test_a_collision_sends_one_key_and_one_body_under_every_tenant_at_once() -> None:
    steps = _steps(Scenario.CROSS_TENANT)
    assert steps
    for step in steps:
        assert step.together
        assert [one.tenant for one in step.requests] == list(SETTINGS.tenants)
        assert len({(one.key, one.subject, one.variant) for one in step.requests}) == 1


def test_a_reuse_races_two_bodies_for_one_key_and_comes_back_with_a_third() -> None:
    variants: defaultdict[str | None, set[int]] = defaultdict(set)
    races = [one for one in _steps(Scenario.REUSE) if one.together]
    assert races
    assert all({request.variant for request in one.requests} == {0, 1} for one in races)
    for step in _steps(Scenario.REUSE):
        for request in step.requests:
            variants[request.key].add(request.variant)
    assert set(map(frozenset, variants.values())) == {frozenset({0, 1, 2})}


def test_fresh_traffic_uses_each_key_once() -> None:
    requests = [one for step in _steps(Scenario.FRESH) for one in step.requests]
    assert len({one.subject for one in requests}) == len(requests)
    assert all(one.key for one in requests)


def test_a_request_without_a_key_has_duplicates_at_once_and_a_late_one() -> None:
    steps = _steps(Scenario.KEYLESS)
    assert all(one.key is None for step in steps for one in step.requests)
    sizes: defaultdict[int, list[int]] = defaultdict(list)
    for step in steps:
        assert step.together is (len(step.requests) > 1)
        sizes[step.requests[0].subject].append(len(step.requests))
    assert sizes
    assert all(sorted(sent) == [1, SETTINGS.burst] for sent in sizes.values())


@pytest.mark.parametrize("settings", [SETTINGS, LONG])
def test_starts_are_in_order_and_their_mean_rate_is_the_one_asked_for(settings: RunSettings) -> None:
    steps = list(plan(settings).steps)
    assert [one.at_ms for one in steps] == sorted(one.at_ms for one in steps)
    sent = sum(len(one.requests) for one in steps)
    assert sent / (steps[-1].at_ms / 1000) == pytest.approx(settings.rate, rel=0.15)


def test_warm_up_sends_one_request_a_tenant_and_then_as_many_at_once_as_the_storm() -> None:
    *alone, together = plan(SETTINGS).warm_up
    assert [one.requests[0].tenant for one in alone] == list(SETTINGS.tenants)
    assert all(len(one.requests) == 1 for one in alone)
    assert together.together
    assert len(together.requests) == SETTINGS.users + SETTINGS.burst - 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"keys": 9}, "keys: 9"),
        ({"requests": 100}, "requests: 100 is too few for 200 keys"),
        ({"tenants": ("storm-a",)}, "tenants:"),
        ({"burst": 1}, "burst: 1"),
        ({"rate": 0.0}, "rate: 0"),
        ({"rate": float("nan")}, "rate: nan"),
    ],
)
def test_numbers_that_make_no_storm_are_refused_by_name(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        plan(replace(SETTINGS, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [SETTINGS, LONG])
def test_the_least_that_it_asks_for_is_enough(settings: RunSettings) -> None:
    with pytest.raises(ValueError, match="give at least") as refused:
        plan(replace(settings, requests=1))
    least = int(str(refused.value).rpartition(" ")[2])
    assert len(list(plan(replace(settings, requests=least)).requests())) == least


def _steps(scenario: Scenario) -> list[Step]:
    return [step for step in plan(SETTINGS).steps if step.scenario is scenario]


def _peak_bytes(take: Callable[[Iterable[Step]], object]) -> int:
    """The most memory that planning a soak takes, while `take` does what it does with the steps."""
    tracemalloc.start()
    try:
        take(plan(SOAK).steps)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_long_plan_is_made_in_the_memory_of_a_short_one() -> None:
    assert _peak_bytes(lambda steps: sum(len(step.requests) for step in steps)) < MOST_BYTES
    # The control: who keeps all the steps, as plans once did, is found out by the same measure.
    assert _peak_bytes(list) > 2 * MOST_BYTES


def test_the_keys_of_a_long_plan_are_dealt_evenly_over_its_time() -> None:
    """Each tenth of the storm meets about as many keys for the first time as any other."""
    seen: set[int] = set()
    new = [0] * 10
    for number, step in enumerate(steps := list(plan(LONG).steps)):
        for request in step.requests:
            if request.subject not in seen:
                seen.add(request.subject)
                new[number * 10 // len(steps)] += 1
    assert min(new) > LONG.keys / 30


def test_a_collision_of_many_tenants_is_a_burst_of_different_ones_that_meet_all_in_turn() -> None:
    steps = [step for step in plan(LONG).steps if step.scenario is Scenario.CROSS_TENANT]
    for step in steps:
        assert len({one.tenant for one in step.requests}) == len(step.requests) == LONG.burst
    assert {one.tenant for step in steps for one in step.requests} == set(LONG.tenants)
