"""The plan of a storm: which request is meant to be sent when. Pure: the same settings, the same plan.

Open workload: a request has an intended start that does not depend on how fast the server answers, and
latency is counted from it. (In a closed loop a slow server slows the clients too, and so hides itself:
locust issue 2347.)
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from loadtest.operations import BY_NAME, in_order
from loadtest.schedule import Plan, PlannedRequest, Scenario, Step
from loadtest.steps import Steps, least_keys, least_keys_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadtest.run import RunSettings

# Of the later duplicates' steps, this part are bursts: bursts load the platform most, single late
# duplicates keep every user busy between them.
_BURST_CHANCE = 0.2


def plan(settings: RunSettings) -> Plan:
    """Make the plan of a run.

    Raises:
        ValueError: the numbers leave no storm: too few keys for every scenario of every operation, fewer than
            2 tenants, a burst below 2, no such operation, or fewer requests than the keys need (names the
            least).
    """
    _check(settings)
    dice = random.Random(settings.seed)  # noqa: S311 - a schedule, not a secret
    steps = Steps(settings, dice)
    warm_up = steps.warm_up()
    fixed: list[Step] = []
    pool: list[PlannedRequest] = []
    for name, keys in _dealt(settings.keys - steps.keys, settings.operations):
        made, left = steps.fixed(BY_NAME[name], keys)
        fixed += made
        pool += [steps.single(BY_NAME[name]) for _ in range(left)]
    used = sum(len(step.requests) for step in (*warm_up, *fixed))
    needed = used + len(pool) * 2
    if settings.requests < needed:
        raise ValueError(
            f"requests: {settings.requests} is too few for {settings.keys} keys: give at least {needed}"
        )
    fixed += _duplicates(settings, dice, pool, settings.requests - used)
    dice.shuffle(fixed)
    return Plan(warm_up, tuple(_timed(fixed, settings.rate, dice)))


def _check(settings: RunSettings) -> None:
    if not settings.operations or in_order(settings.operations) != settings.operations:
        raise ValueError(f"operations: {', '.join(settings.operations) or 'none'}: name each once, in order")
    least = max(10, len(settings.tenants) * 4, least_keys(settings))
    if settings.keys < least:
        raise ValueError(f"keys: {settings.keys} is too few for every scenario: give at least {least}")
    if len(set(settings.tenants)) < 2:
        raise ValueError("tenants: a storm needs at least two, to let their keys collide")
    if settings.burst < 2:
        raise ValueError(f"burst: {settings.burst} is no burst: give at least 2")
    if not 0 < settings.rate < math.inf:
        raise ValueError(f"rate: {settings.rate} must be a number above 0, in requests a second")


def _dealt(keys: int, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Give each operation the keys that its scenarios need, and of the rest its part by weight."""
    weights = sum(BY_NAME[name].weight for name in names)
    spare = keys - sum(least_keys_of(name) for name in names)
    for number, name in enumerate(names):
        # The parts are rounded down one after the other, of what is left: so that none is lost.
        last = number == len(names) - 1
        part = spare if last else spare * BY_NAME[name].weight // weights
        spare, weights = spare - part, weights - BY_NAME[name].weight
        yield name, least_keys_of(name) + part


def _duplicates(
    settings: RunSettings, dice: random.Random, pool: list[PlannedRequest], requests: int
) -> Iterator[Step]:
    """Exactly `requests` requests over the keys of `pool`: for each at first a burst, then a mixture."""
    # Two requests of each key are kept back, so that none goes without when requests are few.
    left = requests - 2 * len(pool)
    for request in pool:
        extra = min(left, settings.burst - 2)
        left -= extra
        yield _burst([request] * (2 + extra))
    while left:
        size = min(left, settings.burst if dice.random() < _BURST_CHANCE else 1)
        left -= size
        yield _burst([dice.choice(pool)] * size)


def _burst(requests: list[PlannedRequest]) -> Step:
    return Step(0.0, Scenario.DUPLICATE, tuple(requests), together=len(requests) > 1)


def _timed(steps: list[Step], rate: float, dice: random.Random) -> Iterator[Step]:
    """Give each step its start: Poisson arrivals, a step of n requests taking the room of n."""
    at_ms = 0.0
    for step in steps:
        yield Step(at_ms, step.scenario, step.requests, step.together)
        at_ms += dice.expovariate(1.0) * len(step.requests) * 1000.0 / rate
