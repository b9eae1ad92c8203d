"""What a run was meant to do: the verdict measures the history against it. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loadtest import bodies
from loadtest.plan import plan
from loadtest.sequential import LEAST_LEASE_MS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

    from loadtest.run import RunSettings

# How far the clocks of two processes may be apart: each adds what it found of the time of day when it began
# to a clock that nobody sets, and may have been kept waiting between the two (on several machines, NTP's tens
# of milliseconds come to it). One process has one clock; its stamps are rounded to a tenth of a millisecond.
CLOCKS_MS = 250.0
_ONE_CLOCK_MS = 0.2
# The stage on which nothing throttles and nobody else interferes: there every key must come through.
_STRICT_STAGE = "local"


@dataclass(frozen=True, slots=True)
class Planned:
    """One request of the plan.

    Attributes:
        tenant: who sends it. key: under which its receipt lives. body: hash of what is sent.
        declined: it is a payment that the provider must decline. slot: that it asks for, if it does.
    """

    tenant: str
    key: str
    body: str
    declined: bool = False
    slot: str | None = None


def planned(settings: RunSettings) -> Iterator[Planned]:
    """Every request of a run's plan, one at a time. Raises ValueError when its settings make no plan."""
    mark = settings.key_prefix
    for one in plan(settings).requests():
        yield Planned(
            tenant=one.tenant,
            key=bodies.stored_key(mark, one),
            body=bodies.body_hash(mark, one),
            declined=bodies.is_declined(mark, one),
            slot=bodies.slot(mark, one),
        )


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run was meant to do.

    Attributes:
        stage: where; it is in the source of every event.
        requests: how often each (tenant, key, body hash) is sent. A request without a key stands under the
            key that is derived from its body.
        declined: body hashes of payments that the provider must decline.
        slots: which slot each appointment asks for, by body hash.
        faults: somebody injected faults meanwhile, so that single answers failed.
        tolerance_ms: how far two stamps of the history may be from one clock's.
    """

    stage: str
    requests: Counter[tuple[str, str, str]]
    declined: frozenset[str] = frozenset()
    slots: Mapping[str, str] = field(default_factory=dict)
    faults: bool = False
    tolerance_ms: float = CLOCKS_MS

    @classmethod
    def of(cls, settings: RunSettings, planned: Iterable[Planned]) -> Self:
        """What a run was meant to do with some of its keys. `planned`: all that it was to send of those."""
        requests: Counter[tuple[str, str, str]] = Counter()
        declined: set[str] = set()
        slots: dict[str, str] = {}
        for one in planned:
            requests[one.tenant, one.key, one.body] += 1
            if one.declined:
                declined.add(one.body)
            if one.slot is not None:
                slots[one.body] = one.slot
        # Under faults another process than the storm's adds attempts of its own (`chaos`).
        tolerance = CLOCKS_MS if settings.shares > 1 or settings.faults else _ONE_CLOCK_MS
        return cls(settings.stage, requests, frozenset(declined), slots, settings.faults, tolerance)

    @property
    def least_lease_ms(self) -> float:
        """A claim is its owner's for so long; under faults (clocks that are off) perhaps for no time."""
        return 0.0 if self.faults else LEAST_LEASE_MS

    @property
    def strict(self) -> bool:
        """Each key must be accepted and each duplicate replayed; elsewhere nearly all must."""
        return self.stage == _STRICT_STAGE and not self.faults
