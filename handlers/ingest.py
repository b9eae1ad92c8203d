"""`ingest`: takes a request in. One conditional write, no read, one log line."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools import Logger

from handlers import http_request, intake
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.adapters.request_trace import RequestTrace
from handlers.domain.accept import accept
from handlers.domain.errors import NotFound
from handlers.operations.accepted import BY_RESOURCE
from handlers.settings import IngestSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.accept import Outcome
    from handlers.domain.ports import ReceiptStore
    from handlers.http_request import HttpRequest

FUNCTION: Final = "ingest"


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
    request = http_request.parse(event)
    trace = RequestTrace(FUNCTION, dependencies.logger, dependencies.settings.stage, request)

    def work() -> dict[str, Any]:
        outcome = _accepted(request, dependencies, trace)
        result = intake.answer(outcome)
        trace.succeeded(outcome)
        return result

    return intake.respond(request, trace, dependencies.settings.cors_origins, work)


def _accepted(request: HttpRequest, dependencies: Dependencies, trace: RequestTrace) -> Outcome:
    operation = BY_RESOURCE.get(request.resource)
    if operation is None:
        raise NotFound("there is no such resource")
    trace.operation = operation.name
    caller = trace.caller = intake.admitted(request, operation)
    settings = intake.settings_of(operation, caller)
    checked = intake.checked(request, operation, caller, settings, dependencies)
    trace.attempt = checked.owner
    before_store = time.perf_counter()
    try:
        return accept(dependencies.store, operation, settings, checked)
    finally:
        trace.store_ms = (time.perf_counter() - before_store) * 1000
