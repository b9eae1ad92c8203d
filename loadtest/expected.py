"""What a run was meant to do: the verdict measures the history against it. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loadtest import bodies
from loadtest.plan import plan
from loadtest.sequential import LEAST_LEASE_MS, LONGEST_LEASE_MS, LONGEST_WAIT_MS, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

    from loadtest.operations import Operation
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
        skew_ms: how far the clock of a worker of the platform may be off, to either side.
    """

    stage: str
    requests: Counter[tuple[str, str, str]]
    declined: frozenset[str] = frozenset()
    slots: Mapping[str, str] = field(default_factory=dict)
    faults: bool = False
    tolerance_ms: float = CLOCKS_MS
    skew_ms: float = 0.0

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
        skew_ms = settings.skew_seconds * 1000
        return cls(settings.stage, requests, frozenset(declined), slots, settings.faults, tolerance, skew_ms)

    def rules(self, operation: Operation) -> Rules:
        """The specification of an operation's keys, as exact as the clocks were.

        A lease is given by one worker's clock and found to be over by another's: it may be shorter, and
        longer, by what two clocks are apart.
        """
        apart_ms = 2 * self.skew_ms
        return Rules(
            executes=operation.may_run,
            one_body=operation.one_body,
            tolerance_ms=self.tolerance_ms,
            least_lease_ms=max(0.0, LEAST_LEASE_MS - apart_ms),
            longest_claim_ms=LONGEST_WAIT_MS + LONGEST_LEASE_MS + apart_ms,
        )

    @property
    def strict(self) -> bool:
        """Each key must be accepted and each duplicate replayed; elsewhere nearly all must."""
        return self.stage == _STRICT_STAGE and not self.faults
