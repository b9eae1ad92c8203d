"""The plan of a storm: which request is meant to be sent when. Pure: the same settings, the same plan.

Open workload: a request has an intended start that does not depend on how fast the server answers, and
latency is counted from it. (In a closed loop a slow server slows the clients too, and so hides itself:
locust issue 2347.)
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadtest.operations import BY_NAME, in_order
from loadtest.schedule import Plan, PlannedRequest, Scenario, Step
from loadtest.steps import Steps, least_keys, least_keys_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from loadtest.run import RunSettings

# Of the later duplicates' steps, this part are bursts: bursts load the platform most, single late
# duplicates keep every user busy between them.
_BURST_CHANCE = 0.2


# A plan is made a chapter at a time, so that a long storm needs no more memory than a short one. A key is all
# in one chapter; so many keys (some 5,000 requests) are the duplicates of a minute, and 50 ms to make.
_CHAPTER_KEYS = 500
# A key must be used within its window, of which the shortest that a tenant may have is an hour: the checker
# knows one window of each key. Half of it, since arrivals are random, and slow answers delay what follows.
_LONGEST_USE_SECONDS = 1_800.0


@dataclass(frozen=True, slots=True)
class _Chapter:
    """A part of the plan with keys of its own. `first_subject`: the number of its first key."""

    number: int
    keys: int
    first_subject: int


def plan(settings: RunSettings) -> Plan:
    """Make the plan of a run; what it returns makes the steps as they are asked for.

    Raises:
        ValueError: the numbers leave no storm: too few keys for every scenario of every operation, fewer than
            2 tenants, a burst below 2, no such operation, fewer requests than the keys need (names the
            least), or a rate so low that keys would be used again when their windows are over.
    """
    _check(settings)
    steps = Steps(settings, random.Random(settings.seed))  # noqa: S311 - a schedule, not a secret
    warm_up = steps.warm_up()
    chapters = tuple(_chapters(settings.keys - steps.keys, steps.keys))
    needed = [_Made.of(settings, chapter).needed for chapter in chapters]
    least = _requests_of(warm_up) + sum(needed)
    if settings.requests < least:
        raise ValueError(
            f"requests: {settings.requests} is too few for {settings.keys} keys: give at least {least}"
        )
    spare = _parts(settings.requests - least, [chapter.keys for chapter in chapters])
    requests = [own + more for own, more in zip(needed, spare, strict=True)]
    # Under faults every key is sent again when all is over (`chaos.again`).
    _check_windows(settings.requests if settings.faults else max(requests), settings.rate)
    return Plan(warm_up, lambda: _timed(settings, zip(chapters, requests, strict=True)))


def _check_windows(requests: int, rate: float) -> None:
    if requests / rate > _LONGEST_USE_SECONDS:
        raise ValueError(
            f"rate: at {rate:g} a second a key would be used for {requests / rate:.0f} s, and it must not "
            f"outlast its window: give at least {requests / _LONGEST_USE_SECONDS:.3g}"
        )


def _chapters(keys: int, first_subject: int) -> Iterator[_Chapter]:
    many = max(1, keys // _CHAPTER_KEYS)
    for number, part in enumerate(_parts(keys, [1] * many)):
        yield _Chapter(number, part, first_subject)
        first_subject += part


def _parts(whole: int, weights: list[int]) -> Iterator[int]:
    """Deal a number by weight: each part is rounded down of what is left, so that none is lost."""
    total = sum(weights)
    for weight in weights:
        part = whole * weight // total
        whole, total = whole - part, total - weight
        yield part


@dataclass(frozen=True, slots=True)
class _Made:
    """A chapter without its duplicates: steps whose number follows from its keys, and keys for duplicates."""

    dice: random.Random
    fixed: list[Step]
    pool: list[PlannedRequest]

    @classmethod
    def of(cls, settings: RunSettings, chapter: _Chapter) -> Self:
        """The same each time: its dice depend on the run's seed and its number alone."""
        dice = random.Random(f"{settings.seed}/{chapter.number}")  # noqa: S311 - a schedule, not a secret
        steps = Steps(settings, dice, chapter.first_subject)
        fixed: list[Step] = []
        pool: list[PlannedRequest] = []
        for name, keys in _dealt(chapter.keys, settings.operations):
            made, left = steps.fixed(BY_NAME[name], keys)
            fixed += made
            pool += [steps.single(BY_NAME[name]) for _ in range(left)]
        return cls(dice, fixed, pool)

    @property
    def needed(self) -> int:
        """The fewest requests that it can be: each key of the pool has a duplicate."""
        return _requests_of(self.fixed) + len(self.pool) * 2

    def steps(self, settings: RunSettings, requests: int) -> list[Step]:
        """All of its steps, mixed: `requests` requests."""
        duplicates = requests - _requests_of(self.fixed)
        steps = [*self.fixed, *_duplicates(settings, self.dice, self.pool, duplicates)]
        self.dice.shuffle(steps)
        return steps


def _requests_of(steps: Iterable[Step]) -> int:
    return sum(len(step.requests) for step in steps)


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
    spare = keys - sum(map(least_keys_of, names))
    parts = _parts(spare, [BY_NAME[name].weight for name in names])
    for name, part in zip(names, parts, strict=True):
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


def _timed(settings: RunSettings, chapters: Iterable[tuple[_Chapter, int]]) -> Iterator[Step]:
    """Give each step its start: Poisson arrivals, a step of n requests taking the room of n."""
    at_ms = 0.0
    for chapter, requests in chapters:
        made = _Made.of(settings, chapter)
        for step in made.steps(settings, requests):
            yield Step(at_ms, step.scenario, step.requests, step.together)
            at_ms += made.dice.expovariate(1.0) * len(step.requests) * 1000.0 / settings.rate
