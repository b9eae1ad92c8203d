"""One Locust process's part of a storm: its share of the plan, its clock and its history file."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import gevent.event
import gevent.lock

from loadtest import bodies
from loadtest.history import NOT_KEPT, Attempt, HistoryWriter, Outcome
from loadtest.operations import BY_NAME, WEBHOOKS
from loadtest.plan import plan
from loadtest.signing import sign

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from loadtest.history import Answer
    from loadtest.run import RunDirectory
    from loadtest.schedule import PlannedRequest, Scenario, Step
    from loadtest.target import TargetTenant

# From the last warm-up request to the clock's zero: time for every user to be there for the first step.
_LEAD_IN_MS = 500.0


class StormWorker:
    """Deals this process's steps to its users in the order of their start, and keeps the history.

    Users live in one thread (gevent), and nothing here waits between reading and changing a counter.
    """

    def __init__(self, directory: RunDirectory, tenants: Mapping[str, TargetTenant], share: int) -> None:
        """Make the plan and open the history file of share number `share` (from 0)."""
        self.settings = directory.settings()
        self._mark = self.settings.key_prefix
        mine = plan(self.settings).share(share, self.settings.shares)
        self.share = share
        self.warm_up = mine.warm_up
        self.ready = gevent.event.Event()
        # One burst at a time in a process: bursts on top of each other would measure the client's own queue.
        self.burst_gate = gevent.lock.BoundedSemaphore(1)
        self._tenants = tenants
        self._steps: Iterator[Step] = mine.steps
        # The one after those that users have taken: so that the last step is known for the last.
        self._next = next(self._steps, None)
        self._under_way = 0
        self._numbers = itertools.count()
        self._zero_ms = 0.0
        self._writer = HistoryWriter(directory.history(share))
        self._epoch_ms = time.time() * 1000 - _monotonic_ms()
        self._when_done: Callable[[], None] | None = None

    def now_ms(self) -> float:
        """Milliseconds since the epoch, by a clock that nobody sets while the storm runs."""
        return self._epoch_ms + _monotonic_ms()

    def start_clock(self, when_done: Callable[[], None]) -> None:
        """Let the users begin. `when_done` is called once, after the last step of this share."""
        self._zero_ms = self.now_ms() + _LEAD_IN_MS
        self._when_done = when_done
        self.ready.set()
        if self._next is None:
            when_done()

    def next_step(self) -> Step | None:
        """The next step of this share; None when all are taken."""
        step = self._next
        if step is not None:
            self._next = next(self._steps, None)
            self._under_way += 1
        return step

    def intended_ms(self, step: Step) -> float:
        """When a step is meant to start, in ms since the epoch."""
        return self._zero_ms + step.at_ms

    def finished(self) -> None:
        """A step is done."""
        self._under_way -= 1
        if self._next is None and not self._under_way and self._when_done:
            self._when_done()

    def close(self) -> None:
        """Close the history; what users still send after this is not written down."""
        self._writer.close()

    def attempt_id(self) -> str:
        """A new one, unique in the run."""
        return f"{self.settings.run_id}-{self.share}-{next(self._numbers)}"

    def path(self, request: PlannedRequest) -> str:
        """Where a request is POSTed."""
        path = BY_NAME[request.operation].path
        return path.format(tenant=request.tenant, source=request.source)

    def headers(self, request: PlannedRequest, attempt_id: str, body: str) -> dict[str, str]:
        """The headers of a request, its credential or its signature among them."""
        headers = {
            "Content-Type": "application/json",
            # The bytes are compared: no coding may come between them and the hash.
            "Accept-Encoding": "identity",
            "X-Correlation-Id": attempt_id,
        }
        if request.key is not None:
            headers["Idempotency-Key"] = request.key
        tenant = self._tenants[request.tenant]
        if request.operation != WEBHOOKS.name:
            return {**headers, "x-api-key": tenant.api_key}
        source = request.source or ""
        event_id = bodies.event_id(self._mark, request)
        proof = sign(source, tenant.webhook_secrets[source], event_id, body.encode(), int(time.time()))
        return headers | proof

    def body(self, request: PlannedRequest) -> str:
        """The body of a request: JSON in ASCII."""
        return bodies.text(self._mark, request)

    def record(
        self,
        attempt_id: str,
        request: PlannedRequest,
        scenario: Scenario,
        times: tuple[float, float],
        outcome: Outcome,
        answer: Answer | None = None,
    ) -> Attempt:
        """Write one attempt to the history. `times`: intended start and start; the end is now."""
        attempt = Attempt(
            attempt_id=attempt_id,
            tenant=request.tenant,
            key=request.key,
            operation=request.operation,
            scenario=scenario.value,
            body_hash=bodies.body_hash(self._mark, request),
            intended_start_ms=times[0],
            start_ms=times[1],
            end_ms=self.now_ms(),
            outcome=outcome,
            status=answer.status if answer else None,
            response_hash=answer.response_hash if answer else None,
            response_body=answer.response_body if answer else None,
            headers=answer.headers if answer else (),
            replayed=answer.replayed if answer else False,
            correlation_id=answer.correlation_id if answer else None,
            dropped=request.drop_after_ms is not None,
            derived_key=None if request.key else bodies.stored_key(self._mark, request),
            retry_after=answer.retry_after if answer else NOT_KEPT,
        )
        self._writer.append(attempt)
        return attempt


def _monotonic_ms() -> float:
    return time.perf_counter() * 1000
