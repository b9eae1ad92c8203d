"""The Locust user of the storm and the shape that ends it.

Users speak HTTP only. boto3 in a gevent user hangs (locust issue 2637): AWS is read when the run is over.
"""

from __future__ import annotations

import socket
import ssl
from http import HTTPStatus
from typing import TYPE_CHECKING, ClassVar

import gevent
import gevent.pool
from geventhttpclient.client import HTTPClientPool
from locust import FastHttpUser, LoadTestShape, task
from locust.contrib.fasthttp import FAILURE_EXCEPTIONS
from locust.exception import StopUser
from locust.runners import MasterRunner

from loadtest.dropping import send_and_drop
from loadtest.history import Outcome, answer

if TYPE_CHECKING:
    from locust.contrib.fasthttp import ResponseContextManager

    from loadtest.history import Answer
    from loadtest.schedule import PlannedRequest, Scenario, Step
    from loadtest.worker import StormWorker

# The longest that API Gateway waits for a function is 29 s; an answer later than this will not come.
_ANSWER_SECONDS = 35.0
_CONNECT_SECONDS = 10.0
# Most connections of one process; beyond it requests would queue in the client.
_MOST_CONNECTIONS = 512

# Answers that the storm provokes on purpose: in Locust's own statistics they are no failures. A 409 is a
# first request that still runs, or a taken slot; nobody repeats it at once, the plan comes back anyway.
_PROVOKED = frozenset({HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.CONFLICT, HTTPStatus.PAYMENT_REQUIRED})


# Raised before the first byte of a request: refused, no such host, a certificate that nobody vouches for.
_NOT_SENT = (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)


class StormUser(FastHttpUser):
    """Takes one step of the plan after another, at its time."""

    worker: ClassVar[StormWorker]
    network_timeout = _ANSWER_SECONDS
    connection_timeout = _CONNECT_SECONDS
    max_redirects = 0  # a redirect is an answer: a followed one would turn the POST into a GET
    # One pool for all users of a process. It checks certificates, unlike the one that Locust would make.
    client_pool = HTTPClientPool(
        concurrency=_MOST_CONNECTIONS,
        network_timeout=_ANSWER_SECONDS,
        connection_timeout=_CONNECT_SECONDS,
    )

    @task
    def take_step(self) -> None:
        """Wait for the start of the next step, and do it."""
        self.worker.ready.wait()
        step = self.worker.next_step()
        if step is None:
            raise StopUser
        intended_ms = self.worker.intended_ms(step)
        gevent.sleep(max(0.0, intended_ms - self.worker.now_ms()) / 1000)
        try:
            self.perform(step, intended_ms)
        finally:
            self.worker.finished()

    def perform(self, step: Step, intended_ms: float) -> None:
        """Send the requests of a step: all at once, or one after the other."""
        if not step.together:
            for request in step.requests:
                self.send(request, step.scenario, intended_ms)
                # A retry is meant to start when its client gives up on the attempt before it.
                intended_ms = self.worker.now_ms()
            return
        with self.worker.burst_gate:
            clients = gevent.pool.Group()
            for request in step.requests:
                # None runs before this greenlet waits in `join`: they all start in one turn of the loop.
                clients.spawn(self.send, request, step.scenario, intended_ms)
            clients.join(raise_error=True)

    def send(self, request: PlannedRequest, scenario: Scenario, intended_ms: float) -> None:
        """One attempt: send, wait or hang up, and write it down."""
        attempt_id = self.worker.attempt_id()
        path, body = self.worker.path(request), self.worker.body(request)
        headers = self.worker.headers(request, attempt_id, body)
        times = (intended_ms, self.worker.now_ms())
        name = f"{request.operation} {scenario.value}"
        if request.drop_after_ms is not None:
            outcome = send_and_drop(f"{self.host}{path}", headers, body.encode(), request.drop_after_ms)
            attempt = self.worker.record(attempt_id, request, scenario, times, outcome)
            self._report_drop(f"{name} (dropped)", attempt.latency_ms, outcome)
            return
        with self.client.post(path, data=body, headers=headers, name=name, catch_response=True) as response:
            got = _answer_of(response)
            outcome = Outcome.OK if got else _outcome_of(response)
            attempt = self.worker.record(attempt_id, request, scenario, times, outcome, got)
            # Locust's own figure starts when the request is sent; ours when it was meant to be.
            response.request_meta["response_time"] = attempt.latency_ms
            if got and (got.status < HTTPStatus.MULTIPLE_CHOICES or got.status in _PROVOKED):
                response.success()

    def _report_drop(self, name: str, latency_ms: float, outcome: Outcome) -> None:
        failure = ConnectionError("no connection") if outcome is Outcome.FAIL else None
        self.environment.events.request.fire(
            request_type="POST",
            name=name,
            response_time=latency_ms,
            response_length=0,
            exception=failure,
            context={},
        )


def _answer_of(response: ResponseContextManager) -> Answer | None:
    """The answer when it is whole; None when there is none, or when it broke off in the middle.

    A connection that ends before the announced length is no error to geventhttpclient: it hands on what came.
    """
    if not response.status_code or response.headers is None:
        return None
    headers = dict(response.headers.items())
    try:
        body = response.content or b""
    except FAILURE_EXCEPTIONS:
        return None
    return answer(response.status_code, headers, body) if _is_whole(response, body) else None


def _is_whole(response: ResponseContextManager, body: bytes) -> bool:
    """As long as its Content-Length says, or (chunked) with its last chunk."""
    # Locust keeps the parser, which knows, in no public place.
    parser = response._response  # noqa: SLF001
    announced = parser.content_length if parser else None
    return bool(parser and parser.message_complete) if announced is None else announced == len(body)


def _outcome_of(response: ResponseContextManager) -> Outcome:
    """What is known of an attempt without an answer: where no connection came about, nothing was sent."""
    return Outcome.FAIL if isinstance(getattr(response, "error", None), _NOT_SENT) else Outcome.UNKNOWN


class StormShape(LoadTestShape):
    """Starts all users at once and ends the test when every share of the plan is done.

    The load itself follows the plan's own clock, not the number of users: that is what makes it open.
    """

    use_common_options = True
    users: ClassVar[int] = 1
    shares: ClassVar[int] = 1
    done: ClassVar[set[int]] = set()

    def tick(self) -> tuple[int, float] | None:
        """Called once a second: users and their spawn rate, or None to end the test.

        A worker that is gone will not report its share: the run ends without it, and the checker says so.
        """
        lost = self.shares - self.runner.worker_count if isinstance(self.runner, MasterRunner) else 0
        if len(self.done) + lost >= self.shares:
            return None
        return self.users, float(self.users)
