"""What `ingest` and `execute` do alike: who calls, whether the request is one, and an answer in any case."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from handlers import http
from handlers.domain import access, canonical_json, identity, keys
from handlers.domain.accept import Replayed
from handlers.domain.caller import Caller, OperationSettings
from handlers.domain.errors import OncewardError
from handlers.domain.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from handlers.domain.accept import Accepted
    from handlers.domain.operation import AcceptOperation, ExecuteOperation
    from handlers.http_request import HttpRequest


class Trace(Protocol):
    """What is said of one request, whatever becomes of it."""

    def refused(self, error: OncewardError) -> None:
        """It was answered with a problem that we foresaw."""

    def broke(self, error: Exception) -> None:
        """Something happened that we did not foresee."""

    def close(self, status: int, request_ms: float) -> None:
        """Say it."""


class Worker(Protocol):
    """What of a function's dependencies a request needs."""

    @property
    def clock_ms(self) -> Callable[[], int]:
        """Ms since the epoch."""

    @property
    def randomness(self) -> Callable[[], str]:
        """A fresh random text for each call (owners, generations)."""


def respond(
    request: HttpRequest, trace: Trace, cors_origins: Sequence[str], work: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """The answer that `work` makes, or a problem. Never raises."""
    started = time.perf_counter()
    try:
        result = work()
    except OncewardError as error:
        result = http.problem(error, request)
        trace.refused(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, a raw 502 of the gateway would leak its message
        result = http.problem(None, request)
        trace.broke(error)
    trace.close(result["statusCode"], (time.perf_counter() - started) * 1000)
    return http.finish(result, request, cors_origins)


def answer(outcome: Accepted | Replayed) -> dict[str, Any]:
    """A first answer, or the replay of one."""
    return http.answer(outcome.response, replay_of=outcome.receipt if isinstance(outcome, Replayed) else None)


def admitted(request: HttpRequest, operation: AcceptOperation | ExecuteOperation) -> Caller:
    """Who calls; raises Forbidden unless its key may call `operation` from there."""
    caller = Caller.from_context(request.authorizer)
    access.check(caller, operation.permission, request.header("Origin"))
    return caller


def settings_of(operation: AcceptOperation | ExecuteOperation, caller: Caller) -> OperationSettings:
    """What the caller's tenant has set for the operation, else the operation's own."""
    default = OperationSettings(operation.window_seconds, operation.key_source, operation.key_fields)
    return caller.operation_settings.get(operation.name, default)


def checked(
    request: HttpRequest,
    operation: AcceptOperation | ExecuteOperation,
    caller: Caller,
    settings: OperationSettings,
    worker: Worker,
) -> Request:
    """The request, with a key and a valid body; raises RequestRefused for anything else."""
    request.require_json()
    # A tenant's own limit lowers the tier's, whatever an older registry says.
    limits = [caller.body_limit_bytes, settings.body_limit_bytes]
    raw = request.body(min(limit for limit in limits if limit))
    body = operation.schema(canonical_json.parse(raw))
    # A key made of the body's fields is the only one: whatever the header says, it is not looked at.
    sent = () if settings.key_source == "fields" else request.headers.get(keys.HEADER.lower(), ())
    return Request(
        tenant_id=caller.tenant_id,
        identity=identity.of_request(operation.name, settings, keys.from_header(sent), body),
        body=body,
        body_text=canonical_json.as_sent(raw),
        correlation_id=request.correlation_id,
        arrival_ms=request.arrival_ms,
        clock_ms=worker.clock_ms(),
        owner=worker.randomness(),
        generation=worker.randomness(),
        success_status=http.success_status(operation),
        detailed_metrics=caller.detailed_metrics,
    )
