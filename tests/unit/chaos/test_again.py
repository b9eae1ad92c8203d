"""The retries of the end: every key until it is answered for good, whatever body it belongs to."""

from __future__ import annotations

import json
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from chaos import again
from loadtest import bodies, history
from loadtest.answers import AGAIN, Answers
from loadtest.plan import plan
from loadtest.run import RunDirectory, RunSettings
from loadtest.target import TargetTenant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETTINGS = RunSettings(
    run_id="abcdef",
    stage="local",
    seed=5,
    requests=120,
    keys=20,
    tenants=("storm-a", "storm-b"),
    rate=50.0,
    burst=3,
    users=2,
    operations=("leads", "webhooks"),
    faults=True,
)
TENANTS = {
    name: TargetTenant(name, f"key-of-{name}", None, True, {"events": "whsec_YQ==", "stripe": "whsec_b"})
    for name in SETTINGS.tenants
}


class Api(ThreadingHTTPServer):
    """Refuses each key `refusals` times with a status, then accepts it (the first body), then replays it."""

    daemon_threads = True

    def __init__(self, refusals: int, status: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.refusals, self.status = refusals, status
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    server: Api

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        who = self.headers.get("x-api-key") or self.path
        with self.server.lock:
            key = f"{who} {self.headers.get('Idempotency-Key') or sent.get('id') or sent['reference']}"
            self.server.asked[key] += 1
            past = self.server.asked[key] - self.server.refusals
        webhook = "webhooks" in self.path
        status = 202 if webhook else 201
        if past > 1 and webhook:
            status = 200
        self.send_response(self.server.status if past < 1 else status)
        if past > 1:
            self.send_header("Idempotent-Replayed", "true")
        self.send_header("X-Correlation-Id", self.headers["X-Correlation-Id"])
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def api(refusals: int, status: int) -> Iterator[Api]:
    with Api(refusals, status) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def _url(server: Api) -> str:
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(again, "_PAUSE_SECONDS", 0.0)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path / "run", SETTINGS)


def _planned() -> set[str]:
    mark = SETTINGS.key_prefix
    return {f"{one.tenant}#{bodies.stored_key(mark, one)}" for one in plan(SETTINGS).requests()}


def test_every_key_of_the_plan_is_tried_with_each_of_its_bodies_and_without_hanging_up() -> None:
    requests = again.requests_by_key(SETTINGS)
    assert set(requests) == _planned()
    assert any(len(bodies_of) > 1 for bodies_of in requests.values())
    assert all(one.drop_after_ms is None for each in requests.values() for one in each)


@pytest.mark.parametrize("status", [503, 502, 422])
def test_every_key_is_sent_until_it_has_an_answer_that_stands(run: RunDirectory, status: int) -> None:
    with api(2, status) as server:
        retried = again.send_again(run, TENANTS, _url(server))
    assert retried.unanswered == ()
    assert retried.keys == len(_planned())
    answers = Answers()
    for attempt in history.read(run.path):
        assert attempt.scenario == AGAIN
        answers.hear(attempt)
    assert set(answers.by_pk) == _planned()
    assert all(one.answered for one in answers.by_pk.values())
    # Nobody had an answer before: each comes again, as the judge wants it of a key that was sent twice.
    assert {one.created for one in answers.by_pk.values()} == {1}
    assert all(one.replays for one in answers.by_pk.values())
    assert retried.attempts == answers.counts.requests > retried.keys


def test_a_key_that_is_never_answered_is_named(run: RunDirectory) -> None:
    with api(1_000_000, 503) as server:
        retried = again.send_again(run, TENANTS, _url(server), patience_seconds=0.1)
    assert set(retried.unanswered) == _planned()


def test_an_api_that_is_not_there_is_a_request_that_was_not_sent(run: RunDirectory) -> None:
    with api(0, 503) as server:
        url = _url(server)
    again.send_again(run, TENANTS, url, patience_seconds=0.1)
    assert {one.outcome for one in history.read(run.path)} == {history.Outcome.FAIL}


def test_attempts_of_the_retries_are_no_excess_over_the_plan(run: RunDirectory) -> None:
    with api(1, 503) as server:
        again.send_again(run, TENANTS, _url(server))
    answers = Answers()
    for attempt in history.read(run.path):
        answers.hear(attempt)
    assert answers.counts.requests
    assert not answers.attempted
