"""The steps of a storm's scenarios, for each operation those that apply to it. Pure."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from loadtest.operations import APPOINTMENTS, BY_NAME, LEADS, WEBHOOKS
from loadtest.schedule import PlannedRequest, Scenario, Step
from loadtest.signing import SOURCES

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from loadtest.operations import Operation
    from loadtest.run import RunSettings

# How an operation's keys are dealt. Duplicates get the rest, the most, since they are what the platform is
# for; the others get enough to meet every tenant several times in the demo (200 keys).
_FRESH_SHARE, _RETRY_SHARE, _CROSS_SHARE, _REUSE_SHARE, _PAIR_SHARE = 0.30, 0.15, 0.10, 0.05, 0.05
# How often a step of these scenarios comes back to the same key: the first is a race for the first write,
# the later ones meet a stored answer.
_RETRY_ROUNDS, _CROSS_ROUNDS, _PAIR_ROUNDS, _REUSE_LATER = 3, 3, 3, 6
# Of fresh leads, one in this many has no key, so that the body is the key; then there are duplicates, too.
_KEYLESS_EVERY = 5
# When a client hangs up: at once, while a request of some 30 ms (p50 of the local platform) is under way,
# and about when the answer is on its way.
_DROP_AFTER_MS = (0.0, 5.0, 15.0, 30.0, 60.0)
# Fresh, retry, cross-tenant, reuse and duplicate need a key each; a pair of keys comes to that where one
# operation has two keys that meet (two sources, two patients).
_LEAST_KEYS, _PAIR_KEYS = 5, 2


def _has_pairs(operation: Operation) -> bool:
    return operation in {WEBHOOKS, APPOINTMENTS}


def least_keys_of(name: str) -> int:
    """The fewest keys with which an operation meets each of its scenarios, warm-up not counted."""
    return _LEAST_KEYS + _PAIR_KEYS * _has_pairs(BY_NAME[name])


def least_keys(settings: RunSettings) -> int:
    """The fewest keys of a run, warm-up included."""
    warm_up = len(settings.tenants) + len(settings.operations) - 1
    return warm_up + sum(map(least_keys_of, settings.operations))


class Steps:
    """Makes the steps of each scenario, numbering keys as it goes."""

    def __init__(self, settings: RunSettings, dice: random.Random, first_subject: int = 0) -> None:
        """`first_subject`: the number of its first key; there are never more numbers than keys."""
        self._settings = settings
        self._dice = dice
        self._subjects = count(first_subject)
        self.keys = 0  # that were made

    def single(
        self, operation: Operation, tenant: str | None = None, *, keyless: bool = False
    ) -> PlannedRequest:
        """A request under a key of its own."""
        subject = next(self._subjects)
        self.keys += 1
        without_header = keyless or _key_is_in_body(operation)
        return PlannedRequest(
            tenant=tenant or self._dice.choice(self._settings.tenants),
            key=None if without_header else f"{self._settings.key_prefix}{subject}",
            subject=subject,
            operation=operation.name,
            source=self._dice.choice(SOURCES) if operation == WEBHOOKS else None,
        )

    def warm_up(self) -> tuple[Step, ...]:
        """Each tenant and each operation alone: cold workers otherwise multiply. Then many at once.

        The second part makes the functions start as many workers as the storm will use, before its clock: one
        burst for each function, that of the first operation while every other user has a request under way.
        """
        tenants, names = self._settings.tenants, self._settings.operations
        first = [self.single(BY_NAME[names[0]], tenant) for tenant in tenants]
        first += [
            self.single(BY_NAME[name], tenants[number % len(tenants)])
            for number, name in enumerate(names[1:])
        ]
        alone = [Step(0.0, Scenario.WARM_UP, (request,)) for request in first]
        by_function = {BY_NAME[one.operation].function: one for one in reversed(first)}
        at_once = self._settings.users + self._settings.burst - 1
        bursts = []
        for request in first:
            if by_function[BY_NAME[request.operation].function] is request:
                bursts.append(_burst(Scenario.WARM_UP, [request] * at_once))
                # Of the other functions' calls, few come beside a burst; and each worker is a cold start.
                at_once = self._settings.burst
        return (*alone, *bursts)

    def fixed(self, operation: Operation, keys: int) -> tuple[list[Step], int]:
        """The steps whose number follows from the keys alone, and how many keys are left for duplicates."""
        retry, cross, reuse = (
            max(1, round(keys * share)) for share in (_RETRY_SHARE, _CROSS_SHARE, _REUSE_SHARE)
        )
        pairs = max(1, round(keys * _PAIR_SHARE)) if _has_pairs(operation) else 0
        others = retry + cross + reuse + pairs * _PAIR_KEYS
        fresh = max(1, min(round(keys * _FRESH_SHARE), keys - others - 1))
        steps = [
            *(step for number in range(fresh) for step in self._fresh(operation, number)),
            *(step for _ in range(retry) for step in self._retry(operation)),
            *(step for _ in range(cross) for step in self._cross_tenant(operation)),
            *(step for _ in range(reuse) for step in self._reuse(operation)),
            *(step for _ in range(pairs) for step in self._pair(operation)),
        ]
        return steps, keys - fresh - others

    def _fresh(self, operation: Operation, number: int) -> Iterator[Step]:
        keyless = operation == LEADS and number % _KEYLESS_EVERY == 0
        request = self.single(operation, keyless=keyless)
        if not keyless:
            yield Step(0.0, Scenario.FRESH, (request,))
            return
        yield _burst(Scenario.KEYLESS, [request] * self._settings.burst)
        yield Step(0.0, Scenario.KEYLESS, (request,))

    def _retry(self, operation: Operation) -> Iterator[Step]:
        base = self.single(operation)
        for _ in range(_RETRY_ROUNDS):
            drops = [self._dropped(base) for _ in range(self._dice.randint(1, 2))]
            yield Step(0.0, Scenario.RETRY, (*drops, base))

    def _cross_tenant(self, operation: Operation) -> Iterator[Step]:
        """One key under as many tenants as a burst has clients: under all of them, where they are few."""
        tenants = self._settings.tenants
        if len(tenants) > self._settings.burst:
            tenants = tuple(self._dice.sample(tenants, self._settings.burst))
        base = self.single(operation, tenants[0])
        requests = [replace(base, tenant=tenant) for tenant in tenants]
        for _ in range(_CROSS_ROUNDS):
            yield _burst(Scenario.CROSS_TENANT, requests)

    def _reuse(self, operation: Operation) -> Iterator[Step]:
        """First a race between two bodies for one key, then late reuses with either, or with a third."""
        base = self.single(operation)
        bodies = [replace(base, variant=variant) for variant in range(3)]
        yield _burst(Scenario.REUSE, [bodies[number % 2] for number in range(self._settings.burst)])
        for number in range(_REUSE_LATER):
            yield Step(0.0, Scenario.REUSE, (bodies[number % 3],))

    def _pair(self, operation: Operation) -> Iterator[Step]:
        """Two keys that meet: a race between them, and later ones that find the answers stored."""
        one = self.single(operation)
        if operation == WEBHOOKS:
            self.keys += 1
            scenario, pair = Scenario.CROSS_SOURCE, [replace(one, source=source) for source in SOURCES]
        else:
            rival = replace(self.single(operation, one.tenant), slot=one.subject)
            scenario, pair = Scenario.SLOT, [one, rival]
        for _ in range(_PAIR_ROUNDS):
            self._dice.shuffle(pair)
            yield _burst(scenario, pair)

    def _dropped(self, base: PlannedRequest) -> PlannedRequest:
        return replace(base, drop_after_ms=self._dice.choice(_DROP_AFTER_MS))


def _key_is_in_body(operation: Operation) -> bool:
    return operation in {WEBHOOKS, APPOINTMENTS}


def _burst(scenario: Scenario, requests: list[PlannedRequest]) -> Step:
    return Step(0.0, scenario, tuple(requests), together=len(requests) > 1)
