"""`ingest`: takes a request in. One conditional write, no read, one log line."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from handlers import http, http_request
from handlers.adapters.ingest_trace import FUNCTION, IngestTrace
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.domain import access, canonical_json, identity, keys
from handlers.domain.accept import Replayed, accept
from handlers.domain.caller import Caller, OperationSettings
from handlers.domain.errors import NotFound, OncewardError
from handlers.domain.request import Request
from handlers.operations.accepted import BY_RESOURCE
from handlers.settings import IngestSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.accept import Outcome
    from handlers.domain.operation import AcceptOperation
    from handlers.domain.ports import ReceiptStore
    from handlers.http_request import HttpRequest


@dataclass(frozen=True)
class Dependencies:
    """What the handler works with; tests bring their own.

    Attributes:
        clock_ms: ms since the epoch.
        randomness: a fresh random text for each call (owners, generations).
    """

    settings: IngestSettings
    store: ReceiptStore
    logger: Logger
    clock_ms: Callable[[], int]
    randomness: Callable[[], str]


@cache
def _dependencies() -> Dependencies:
    settings = IngestSettings.from_environment()
    return Dependencies(
        settings=settings,
        store=DynamoDbReceipts(settings.receipts_table),
        logger=Logger(service=FUNCTION),
        clock_ms=lambda: time.time_ns() // 1_000_000,
        randomness=lambda: uuid.uuid4().hex,
    )


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answer one REST API proxy event; never raises for what a request or an outage can cause."""
    return ingest(event, _dependencies())


def ingest(event: Mapping[str, Any], dependencies: Dependencies) -> dict[str, Any]:
    """Let the request of a REST API (v1) proxy event take effect once, and answer it. Never raises."""
    started = time.perf_counter()
    request = http_request.parse(event)
    trace = IngestTrace(
        dependencies.logger, dependencies.settings.stage, request.correlation_id, request.request_id
    )
    try:
        outcome = _accepted(request, dependencies, trace)
        result = http.answer(
            outcome.response, replay_of=outcome.receipt if isinstance(outcome, Replayed) else None
        )
        trace.succeeded(outcome)
    except OncewardError as error:
        result = http.problem(error, request)
        trace.refused(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, a raw 502 of the gateway would leak its message
        result = http.problem(None, request)
        trace.broke(error)
    trace.close(result["statusCode"], (time.perf_counter() - started) * 1000)
    return http.finish(result, request, dependencies.settings.cors_origins)


def _accepted(request: HttpRequest, dependencies: Dependencies, trace: IngestTrace) -> Outcome:
    operation = BY_RESOURCE.get(request.resource)
    if operation is None:
        raise NotFound("there is no such resource")
    trace.operation = operation.name
    caller = trace.caller = Caller.from_context(request.authorizer)
    access.check(caller, operation.permission, request.header("Origin"))
    default = OperationSettings(operation.window_seconds, operation.key_source)
    settings = caller.operation_settings.get(operation.name, default)
    checked = _checked(request, operation, caller, settings, dependencies)
    before_store = time.perf_counter()
    try:
        return accept(dependencies.store, operation, settings, checked)
    finally:
        trace.store_ms = (time.perf_counter() - before_store) * 1000


def _checked(
    request: HttpRequest,
    operation: AcceptOperation,
    caller: Caller,
    settings: OperationSettings,
    dependencies: Dependencies,
) -> Request:
    request.require_json()
    raw = request.body(settings.body_limit_bytes or caller.body_limit_bytes)
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
        clock_ms=dependencies.clock_ms(),
        owner=dependencies.randomness(),
        generation=dependencies.randomness(),
        success_status=http.success_status(operation),
    )
