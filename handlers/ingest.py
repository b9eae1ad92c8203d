"""`ingest`: takes a request in. One conditional write, no read, one log line."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from handlers import http
from handlers.adapters import metrics
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.domain import access, canonical_json, keys
from handlers.domain.accept import Accepted, Request, accept
from handlers.domain.caller import Caller, OperationSettings
from handlers.domain.errors import (
    InvalidBody,
    KeyReused,
    OncewardError,
    RequestInProgress,
    RequestRefused,
)
from handlers.operations import BY_RESOURCE
from handlers.settings import IngestSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.accept import Outcome
    from handlers.domain.operation import AcceptOperation
    from handlers.domain.ports import ReceiptStore

_SERVICE = "ingest"


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
        logger=Logger(service=_SERVICE),
        clock_ms=lambda: time.time_ns() // 1_000_000,
        randomness=lambda: uuid.uuid4().hex,
    )


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answer one REST API proxy event; never raises for what a request or an outage can cause."""
    return ingest(event, _dependencies())


def ingest(event: Mapping[str, Any], dependencies: Dependencies) -> dict[str, Any]:
    """Let the request of a REST API (v1) proxy event take effect once, and answer it."""
    started = time.perf_counter()
    request = http.parse(event)
    operation = BY_RESOURCE[request.resource]
    trace = _Trace(dependencies, operation, request)
    try:
        outcome = _accepted(request, operation, dependencies, trace)
        result = http.answer(outcome.response, replayed=not isinstance(outcome, Accepted))
        trace.succeeded(outcome)
    except OncewardError as error:
        result = http.problem(error, request)
        trace.refused(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, a raw 502 of the gateway would leak its message
        result = http.problem(None, request)
        trace.failed(http.where(error))
    trace.close(result["statusCode"], (time.perf_counter() - started) * 1000)
    return http.finish(result, request, dependencies.settings.cors_origins)


def _accepted(
    request: http.HttpRequest, operation: AcceptOperation, dependencies: Dependencies, trace: _Trace
) -> Outcome:
    caller = Caller.from_context(request.authorizer)
    trace.tenant_id = caller.tenant_id
    access.check(caller, operation.permission, request.header("Origin"))
    request.require_json()
    raw = request.body(caller.body_limit_bytes)
    body = operation.schema(canonical_json.parse(raw))
    key = keys.from_header(request.headers.get(keys.HEADER.lower(), ()))
    default = OperationSettings(operation.window_seconds, operation.key_source)
    checked = Request(
        tenant_id=caller.tenant_id,
        key=key,
        body=body,
        body_text=canonical_json.as_sent(raw),
        correlation_id=request.correlation_id,
        arrival_ms=request.arrival_ms,
        clock_ms=dependencies.clock_ms(),
        owner=dependencies.randomness(),
        generation=dependencies.randomness(),
        success_status=http.CREATED,
    )
    before_store = time.perf_counter()
    try:
        return accept(
            dependencies.store, operation, caller.operation_settings.get(operation.name, default), checked
        )
    finally:
        trace.store_ms = (time.perf_counter() - before_store) * 1000


class _Trace:
    """What is said of one request: a log line and its metrics. Never a key, never a payload."""

    def __init__(
        self, dependencies: Dependencies, operation: AcceptOperation, request: http.HttpRequest
    ) -> None:
        self.tenant_id: str | None = None
        self.store_ms: float | None = None
        self._dependencies = dependencies
        self._operation = operation
        self._request = request
        self._outcome = ""
        self._counts: dict[str, int] = {}
        self._more: dict[str, str] = {}

    def succeeded(self, outcome: Outcome) -> None:
        first = isinstance(outcome, Accepted)
        self._outcome = "accepted" if first else "replayed"
        self._counts["Accepted" if first else "Replayed"] = 1
        if isinstance(outcome, Accepted):
            self._counts |= {"Abandoned": 1} if outcome.abandoned else {}
            self._counts |= {"ResponseTooLarge": 1} if outcome.body_dropped else {}
        if outcome.receipt.outbox is not None:
            self._more["record_id"] = outcome.receipt.outbox.record_id

    def refused(self, error: OncewardError) -> None:
        if isinstance(error, KeyReused):
            self._outcome, self._counts = "mismatch", {"Mismatch": 1}
        elif isinstance(error, RequestInProgress):
            self._outcome, self._counts = "in_progress", {"InProgress": 1}
        elif isinstance(error, RequestRefused):
            self._outcome, self._counts = "rejected", {"Rejected": 1}
            if isinstance(error, InvalidBody):
                self._more["rules"] = ",".join(sorted({fault.rule for fault in error.faults}))
        else:
            self.failed(str(error))

    def failed(self, reason: str) -> None:
        self._outcome, self._counts = "failed", {"Failed": 1}
        self._more["reason"] = reason

    def close(self, status: int, request_ms: float) -> None:
        log = self._dependencies.logger.error if self._outcome == "failed" else self._dependencies.logger.info
        log(
            self._outcome,
            extra={
                "tenant": self.tenant_id,
                "operation": self._operation.name,
                "outcome": self._outcome,
                "status": status,
                "correlation_id": self._request.correlation_id,
                "request_id": self._request.request_id,
                "request_ms": round(request_ms, 1),
                **self._more,
            },
        )
        durations = {"RequestLatency": request_ms}
        if self.store_ms is not None:
            durations["StoreLatency"] = self.store_ms
        service = metrics.service_name(self._dependencies.settings.stage, _SERVICE)
        metrics.emit(service, self._operation.name, self.tenant_id, self._counts, durations)
