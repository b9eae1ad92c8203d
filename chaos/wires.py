"""What the proxy's ports share: the schedule, what is counted, and the way on to the AWS."""

from __future__ import annotations

import http.client
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from chaos import refusing
from chaos.calls import clock_of, queue_of
from chaos.faults import Fault, Kind
from chaos.sends import Sends

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from chaos.faults import Schedule
    from chaos.tally import Tally

# Longer than a function waits for any answer (2 s) and shorter than one lives (30 s).
_UPSTREAM_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Call:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Wires:
    """The state of a running proxy.

    Attributes:
        urls: where each function has to connect, by function.
        armed: faults are injected; else everything passes.
        held: these functions' writes to the store are throttled, all of them, armed or not.
        sends: messages of the queues of work (`chaos.disorder` delays them).
        pause: waits so many seconds before a late answer.
    """

    schedule: Schedule
    tally: Tally
    upstream: str
    kill: Callable[[int], bool]
    sends: Sends = field(default_factory=lambda: Sends(()))
    urls: dict[str, str] = field(default_factory=dict)
    armed: threading.Event = field(default_factory=threading.Event)
    held: set[str] = field(default_factory=set)
    pause: Callable[[float], None] = time.sleep
    _later: list[threading.Timer] = field(default_factory=list)

    def note(self, function: str, service: str, headers: Mapping[str, str]) -> None:
        """Count that a call came, and the worker that it is of."""
        self.tally.came(function, service)
        clock = clock_of(headers)
        if clock is not None and self.tally.add_clock(clock) and clock[1]:
            self.tally.add(Kind.SKEWED_CLOCK, function, *clock)

    def decide(self, function: str, service: str) -> tuple[Fault | None, int]:
        """The fault for the call that has just come, and the call's number."""
        if function in self.held and service == "dynamodb":
            return Fault(Kind.HELD), 0
        if not self.armed.is_set() or service not in refusing.SERVICES:
            return None, 0
        number = self.tally.number(function, service)
        return self.schedule.of_call(function, service, number), number

    def forward(self, call: Call) -> tuple[int, list[tuple[str, str]], bytes]:
        """Send a call on as it is. Raises OSError or http.client.HTTPException: the AWS is not there."""
        upstream = http.client.HTTPConnection(self.upstream, timeout=_UPSTREAM_SECONDS)
        delay = self.sends.delay
        try:
            # The headers go on as they are, Host too: the signature covers them.
            upstream.request(call.method, call.path, call.body, dict(call.headers))
            answer = upstream.getresponse()
            content = answer.read()
        finally:
            upstream.close()
        queue = queue_of(call.headers, call.body)
        if queue and answer.status == http.client.OK and self.sends.overtakes(queue, delay):
            self.tally.add(Kind.REORDERED, queue)
        return answer.status, answer.getheaders(), content

    def forward_later(self, call: Call, seconds: float, note: Callable[[], None]) -> None:
        """Send it on after a while; nobody waits for the answer. `note` is called when it took effect."""

        def send() -> None:
            try:
                status, _, _ = self.forward(call)
            except (OSError, http.client.HTTPException):
                return  # the AWS was stopped meanwhile, as a request that is lost on its way
            if status < http.client.BAD_REQUEST:
                note()

        timer = threading.Timer(seconds, send)
        timer.daemon = True
        timer.start()
        self._later.append(timer)

    def finish(self) -> None:
        """Wait for all that was to be sent on later: nothing may take effect once the faults have ended."""
        while self._later:
            self._later.pop().join()
