"""The plan of a storm: which request is meant to be sent when. Pure: the same settings, the same plan.

Open workload: a request has an intended start that does not depend on how fast the server answers, and
latency is counted from it. (In a closed loop a slow server slows the clients too, and so hides itself:
locust issue 2347.)
"""

from __future__ import annotations

import math
import random
from itertools import count
from typing import TYPE_CHECKING

from loadtest.schedule import Plan, PlannedRequest, Scenario, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadtest.run import RunSettings


# How the keys are dealt. Duplicates get the most, since they are what the platform is for; the others get
# enough to meet every tenant several times in the demo (200 keys).
_FRESH_SHARE, _RETRY_SHARE, _CROSS_SHARE, _REUSE_SHARE = 0.30, 0.15, 0.10, 0.05
# How often a step of these scenarios comes back to the same key: the first is a race for the first write,
# the later ones meet a stored answer.
_RETRY_ROUNDS, _CROSS_ROUNDS, _REUSE_LATER = 3, 3, 6
# Of fresh keys, one in this many is not sent, so that the body is the key; then there are duplicates, too.
_KEYLESS_EVERY = 5
# When a client hangs up: at once, while a request of some 30 ms (p50 of the local platform) is under way,
# and about when the answer is on its way.
_DROP_AFTER_MS = (0.0, 5.0, 15.0, 30.0, 60.0)


def plan(settings: RunSettings) -> Plan:
    """Make the plan of a run.

    Raises:
        ValueError: the numbers leave no storm: fewer than 10 keys, fewer than 2 tenants, a burst below 2,
            or fewer requests than the keys need (names the least).
    """
    _check(settings)
    dice = random.Random(settings.seed)  # noqa: S311 - a schedule, not a secret
    makers = _Makers(settings, dice)
    warm_up = makers.warm_up()
    fixed, duplicate_keys = makers.fixed_steps(settings.keys - len(settings.tenants))
    used = sum(len(step.requests) for step in (*warm_up, *fixed))
    needed = used + duplicate_keys * 2
    if settings.requests < needed:
        raise ValueError(
            f"requests: {settings.requests} is too few for {settings.keys} keys: give at least {needed}"
        )
    steps = fixed + makers.duplicate_steps(duplicate_keys, settings.requests - used)
    dice.shuffle(steps)
    return Plan(warm_up, tuple(_timed(steps, settings.rate, dice)))


def _check(settings: RunSettings) -> None:
    if settings.keys < max(10, len(settings.tenants) * 4):
        raise ValueError(
            f"keys: {settings.keys} is too few for every scenario: give at least "
            f"{max(10, len(settings.tenants) * 4)}"
        )
    if len(set(settings.tenants)) < 2:
        raise ValueError("tenants: a storm needs at least two, to let their keys collide")
    if settings.burst < 2:
        raise ValueError(f"burst: {settings.burst} is no burst: give at least 2")
    if not 0 < settings.rate < math.inf:
        raise ValueError(f"rate: {settings.rate} must be a number above 0, in requests a second")


def _timed(steps: list[Step], rate: float, dice: random.Random) -> Iterator[Step]:
    """Give each step its start: Poisson arrivals, a step of n requests taking the room of n."""
    at_ms = 0.0
    for step in steps:
        yield Step(at_ms, step.scenario, step.requests, step.together)
        at_ms += dice.expovariate(1.0) * len(step.requests) * 1000.0 / rate


class _Makers:
    """Makes the steps of each scenario, numbering keys as it goes."""

    def __init__(self, settings: RunSettings, dice: random.Random) -> None:
        self._settings = settings
        self._dice = dice
        self._subjects = count()

    def single(self, tenant: str, *, keyless: bool = False) -> PlannedRequest:
        subject = next(self._subjects)
        return PlannedRequest(tenant, None if keyless else self._key(subject), subject)

    def warm_up(self) -> tuple[Step, ...]:
        """One request a tenant, alone: cold workers otherwise multiply. Then many at once.

        The second part makes the functions start as many workers as the storm will use, before its clock: one
        burst while every other user has a request under way.
        """
        first = [self.single(tenant) for tenant in self._settings.tenants]
        at_once = [first[0]] * (self._settings.users + self._settings.burst - 1)
        alone = [Step(0.0, Scenario.WARM_UP, (request,)) for request in first]
        return (*alone, self._burst(Scenario.WARM_UP, at_once))

    def fixed_steps(self, keys: int) -> tuple[list[Step], int]:
        """The steps whose number follows from the keys alone, and how many keys are left for duplicates."""
        fresh, retry, cross, reuse = (
            max(1, round(keys * share)) for share in (_FRESH_SHARE, _RETRY_SHARE, _CROSS_SHARE, _REUSE_SHARE)
        )
        steps = [
            *(step for number in range(fresh) for step in self._fresh(number)),
            *(step for _ in range(retry) for step in self._retry()),
            *(step for _ in range(cross) for step in self._cross_tenant()),
            *(step for _ in range(reuse) for step in self._reuse()),
        ]
        return steps, keys - fresh - retry - cross - reuse

    def duplicate_steps(self, keys: int, requests: int) -> list[Step]:
        """Exactly `requests` requests over `keys` keys: for each key at first a burst, then a mixture."""
        pool = [self.single(self._tenant()) for _ in range(keys)]
        # One request of each key is kept back, so that none goes without when requests are few.
        left = requests - 2 * keys
        steps = []
        for request in pool:
            extra = min(left, self._settings.burst - 2)
            left -= extra
            steps.append(self._burst(Scenario.DUPLICATE, [request] * (2 + extra)))
        while left:
            size = min(left, self._settings.burst if self._dice.random() < _BURST_CHANCE else 1)
            left -= size
            steps.append(self._burst(Scenario.DUPLICATE, [self._dice.choice(pool)] * size))
        return steps

    def _fresh(self, number: int) -> Iterator[Step]:
        keyless = number % _KEYLESS_EVERY == 0
        request = self.single(self._tenant(), keyless=keyless)
        if not keyless:
            yield Step(0.0, Scenario.FRESH, (request,))
            return
        yield self._burst(Scenario.KEYLESS, [request] * self._settings.burst)
        yield Step(0.0, Scenario.KEYLESS, (request,))

    def _retry(self) -> Iterator[Step]:
        base = self.single(self._tenant())
        for _ in range(_RETRY_ROUNDS):
            drops = [self._dropped(base) for _ in range(self._dice.randint(1, 2))]
            yield Step(0.0, Scenario.RETRY, (*drops, base))

    def _cross_tenant(self) -> Iterator[Step]:
        subject = next(self._subjects)
        requests = [PlannedRequest(tenant, self._key(subject), subject) for tenant in self._settings.tenants]
        for _ in range(_CROSS_ROUNDS):
            yield self._burst(Scenario.CROSS_TENANT, requests)

    def _reuse(self) -> Iterator[Step]:
        """First a race between two bodies for one key, then late reuses with either, or with a third."""
        tenant, subject = self._tenant(), next(self._subjects)
        bodies = [PlannedRequest(tenant, self._key(subject), subject, variant) for variant in range(3)]
        yield self._burst(Scenario.REUSE, [bodies[number % 2] for number in range(self._settings.burst)])
        for number in range(_REUSE_LATER):
            yield Step(0.0, Scenario.REUSE, (bodies[number % 3],))

    def _burst(self, scenario: Scenario, requests: list[PlannedRequest]) -> Step:
        return Step(0.0, scenario, tuple(requests), together=len(requests) > 1)

    def _dropped(self, base: PlannedRequest) -> PlannedRequest:
        after = self._dice.choice(_DROP_AFTER_MS)
        return PlannedRequest(base.tenant, base.key, base.subject, base.variant, after)

    def _tenant(self) -> str:
        return self._dice.choice(self._settings.tenants)

    def _key(self, subject: int) -> str:
        return f"{self._settings.key_prefix}{subject}"


# Of the later duplicates' steps, this part are bursts: bursts load the platform most, single late
# duplicates keep every user busy between them.
_BURST_CHANCE = 0.2
