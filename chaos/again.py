"""After the faults every key is sent again until it has an answer that stands, as clients with retries do."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import httpx

from loadtest import bodies
from loadtest.answers import AGAIN
from loadtest.history import NOT_KEPT, Attempt, HistoryWriter, Outcome, answer
from loadtest.operations import BY_NAME
from loadtest.plan import plan
from loadtest.signing import sign
from loadtest.told import ANSWERED, Told, told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadtest.history import Answer
    from loadtest.run import RunDirectory, RunSettings
    from loadtest.schedule import PlannedRequest
    from loadtest.target import TargetTenant

# As the storm's own clients: API Gateway gives up after 29 s.
_ANSWER_SECONDS: Final = 35.0
# Retries of one client come a second apart, or when a 409 says: the least it may say is 1.
_PAUSE_SECONDS: Final = 1.0
# Clients at once: half of the storm's, which is over.
_CLIENTS: Final = 4
# A worker that was killed leaves a lease of 35 s by its own clock, which may be 90 s ahead; as much again for
# a second attempt at the same key, and room for a slow machine. What has no answer then is stuck.
STUCK_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Retried:
    """How the retries went: attempts sent, keys (of a tenant), and those without an answer that stands."""

    attempts: int
    keys: int
    unanswered: tuple[str, ...]


class _History:
    """The attempts of this pass, in a file beside the storm's own."""

    def __init__(self, directory: RunDirectory, tenants: Mapping[str, TargetTenant]) -> None:
        self.settings = directory.settings()
        self._tenants = tenants
        self._numbers = itertools.count()
        self._writer = HistoryWriter(directory.path / "history-again.jsonl")

    def head(self, request: PlannedRequest, body: str) -> dict[str, str]:
        """The headers of a new attempt; its id is the correlation id."""
        headers = {
            "Content-Type": "application/json",
            # The bytes are compared: no coding may come between them and the hash.
            "Accept-Encoding": "identity",
            "X-Correlation-Id": f"{self.settings.run_id}-{AGAIN}-{next(self._numbers)}",
        }
        tenant = self._tenants[request.tenant]
        if request.key is not None:
            headers["Idempotency-Key"] = request.key
        if request.source is None:
            return headers | {"x-api-key": tenant.api_key}
        event_id = bodies.event_id(self.settings.key_prefix, request)
        secret = tenant.webhook_secrets[request.source]
        return headers | sign(request.source, secret, event_id, body.encode(), int(time.time()))

    def write(
        self, attempt_id: str, request: PlannedRequest, began_ms: float, outcome: Outcome, got: Answer | None
    ) -> Told:
        """Add an attempt that has just ended; says what it was told."""
        mark = self.settings.key_prefix
        attempt = Attempt(
            attempt_id=attempt_id,
            tenant=request.tenant,
            key=request.key,
            operation=request.operation,
            scenario=AGAIN,
            body_hash=bodies.body_hash(mark, request),
            intended_start_ms=began_ms,
            start_ms=began_ms,
            end_ms=time.time() * 1000,
            outcome=outcome,
            status=got.status if got else None,
            response_hash=got.response_hash if got else None,
            response_body=got.response_body if got else None,
            headers=got.headers if got else (),
            replayed=bool(got and got.replayed),
            correlation_id=got.correlation_id if got else None,
            derived_key=None if request.key else bodies.stored_key(mark, request),
            retry_after=got.retry_after if got else NOT_KEPT,
        )
        self._writer.append(attempt)
        return told(attempt)

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


def requests_by_key(settings: RunSettings) -> dict[str, deque[PlannedRequest]]:
    """For each pair of tenant and key the requests to try it with: one for each body, as planned."""
    found: defaultdict[str, dict[str, PlannedRequest]] = defaultdict(dict)
    mark = settings.key_prefix
    for one in plan(settings).requests():
        pk = f"{one.tenant}#{bodies.stored_key(mark, one)}"
        found[pk].setdefault(bodies.body_hash(mark, one), replace(one, drop_after_ms=None))
    return {pk: deque(requests.values()) for pk, requests in found.items()}


def send_again(
    directory: RunDirectory,
    tenants: Mapping[str, TargetTenant],
    api_url: str,
    patience_seconds: float = STUCK_SECONDS,
) -> Retried:
    """Send every key of the run until it is answered for good; the attempts go into the run's history.

    Also a key that the storm saw answered: its answer must come once more. One that is answered for the first
    time only now is sent twice, so that it comes again as well.

    Args:
        patience_seconds: a key without an answer after so long is stuck.
    """
    history = _History(directory, tenants)
    pending = requests_by_key(history.settings)
    keys, sent, deadline = len(pending), 0, time.monotonic() + patience_seconds
    with (
        contextlib.closing(history),
        httpx.Client(base_url=api_url, timeout=_ANSWER_SECONDS, trust_env=False) as client,
        ThreadPoolExecutor(_CLIENTS) as pool,
    ):
        while pending:
            heads = [requests[0] for requests in pending.values()]
            answers = list(pool.map(lambda one: _ask(history, client, one), heads))
            sent += sum(map(len, answers))
            left = [pk for pk, got in zip(pending, answers, strict=True) if got[0] not in ANSWERED]
            for pk, got in zip(pending, answers, strict=True):
                if got[0] is Told.CONFLICT:
                    pending[pk].rotate(-1)  # the key belongs to another of its bodies: that one is next
            pending = {pk: pending[pk] for pk in left}
            if time.monotonic() > deadline:
                break
            if pending:
                time.sleep(_PAUSE_SECONDS)
    return Retried(sent, keys, tuple(pending))


def _ask(history: _History, client: httpx.Client, request: PlannedRequest) -> list[Told]:
    """What the client is told; and once more at once, where that was new: within the shortest of windows."""
    got = [_send(history, client, request)]
    if got[0] in ANSWERED - {Told.REPLAY}:
        got.append(_send(history, client, request))
    return got


def _send(history: _History, client: httpx.Client, request: PlannedRequest) -> Told:
    body, began_ms = bodies.text(history.settings.key_prefix, request), time.time() * 1000
    head = history.head(request, body)
    path = BY_NAME[request.operation].path.format(tenant=request.tenant, source=request.source)
    got: Answer | None = None
    try:
        response = client.post(path, content=body.encode(), headers=head)
        got = answer(response.status_code, dict(response.headers), response.content)
        outcome = Outcome.OK
    except httpx.ConnectError:
        outcome = Outcome.FAIL
    except httpx.HTTPError:
        outcome = Outcome.UNKNOWN
    return history.write(head["X-Correlation-Id"], request, began_ms, outcome, got)
