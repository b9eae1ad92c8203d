"""What a storm's plan is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, islice
from typing import TYPE_CHECKING

from loadtest.operations import LEADS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Scenario(Enum):
    """What a step of the storm imitates."""

    WARM_UP = "warm-up"  # before the clock starts: the storm is not about cold starts
    FRESH = "fresh"  # ordinary traffic: a key that is used once
    KEYLESS = "keyless"  # no key, so that the body is its key: many clients at once, and a late single one
    DUPLICATE = "duplicate"  # many clients, one key, at the same moment; and late single duplicates
    RETRY = "retry"  # the client drops the connection after sending, then retries with the same key
    CROSS_TENANT = "cross-tenant"  # the same key, and the same body, under many tenants at once
    REUSE = "reuse"  # the key again with another body: a 422 for whoever comes second (webhooks: a duplicate)
    CROSS_SOURCE = "cross-source"  # webhooks: one event id from two sources, which is two events
    SLOT = "slot"  # appointments: two patients for one slot, of whom one is told that it is taken


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """One request to be sent.

    Attributes:
        tenant: whose API key it uses.
        key: its `Idempotency-Key`; None for a request whose key is in its body.
        subject, variant: which body it sends (`loadtest.bodies.body`).
        operation: by name. source: of a webhook; None for all else.
        slot: the subject whose slot an appointment asks for; None: its own.
        drop_after_ms: None to wait for the answer; else the client closes the connection so many
            milliseconds after it sent the request, and never sees the answer.
    """

    tenant: str
    key: str | None
    subject: int
    variant: int = 0
    drop_after_ms: float | None = None
    operation: str = LEADS.name
    source: str | None = None
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Requests that belong together.

    Attributes:
        at_ms: the intended start, in ms after the storm's clock started.
        together: all at the same moment, each on its own connection; else one after the other.
    """

    at_ms: float
    scenario: Scenario
    requests: tuple[PlannedRequest, ...]
    together: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run sends: `warm_up` before its clock starts, then `steps` in the order of their start.

    Attributes:
        warm_up: all at once in memory; it grows with tenants and operations only.
        make_steps: makes the steps anew, the same ones each time, and holds a chapter of them at most.
    """

    warm_up: tuple[Step, ...]
    make_steps: Callable[[], Iterator[Step]] = field(repr=False)

    @property
    def steps(self) -> Iterator[Step]:
        """The steps, from the first one on."""
        return self.make_steps()

    def share(self, index: int, shares: int) -> Plan:
        """The part of one worker: every `shares`-th step. The shares together are the plan.

        Raises:
            ValueError: there is no share with this index.
        """
        if not 0 <= index < shares:
            raise ValueError(f"share {index}: a plan dealt to {shares} workers has shares 0 to {shares - 1}")
        return Plan(self.warm_up[index::shares], lambda: islice(self.steps, index, None, shares))

    def requests(self) -> Iterator[PlannedRequest]:
        """Every request, warm-up included."""
        for step in chain(self.warm_up, self.steps):
            yield from step.requests
