"""`execute`: a request whose effect is somewhere else. Claim, effect, fenced complete; one log line."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from aws_lambda_powertools import Logger

from handlers import http, http_request, intake
from handlers.adapters.execute_trace import FUNCTION, ExecuteTrace
from handlers.adapters.outbound import OutboundHttp
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.adapters.secrets import SsmSecrets
from handlers.adapters.slots import DynamoDbSlots
from handlers.adapters.timed_receipts import TimedReceipts
from handlers.domain.effect import LEASE_MARGIN_MS
from handlers.domain.errors import NotFound
from handlers.domain.execute import Runtime, execute
from handlers.domain.operation import Ports
from handlers.operations.executed import BY_RESOURCE
from handlers.settings import ExecuteSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.execute import Outcome
    from handlers.domain.ports import ReceiptStore
    from handlers.http_request import HttpRequest


class Context(Protocol):
    """What Lambda says of an invocation."""

    def get_remaining_time_in_millis(self) -> int:
        """How long it may still run, ms."""


@dataclass(frozen=True)
class Dependencies:
    """What the handler works with; tests bring their own. See `handlers.ingest.Dependencies`.

    Attributes:
        ports: what effects may use of the outside world.
    """

    settings: ExecuteSettings
    store: ReceiptStore
    ports: Ports
    logger: Logger
    clock_ms: Callable[[], int]
    randomness: Callable[[], str]


@cache
def _dependencies() -> Dependencies:
    settings = ExecuteSettings.from_environment()
    return Dependencies(
        settings=settings,
        store=DynamoDbReceipts(settings.receipts_table),
        ports=Ports(
            outbound=OutboundHttp(settings.stand_in_url),
            slots=DynamoDbSlots(settings.slots_table),
            secrets=SsmSecrets(settings.secrets_prefix),
        ),
        logger=Logger(service=FUNCTION),
        clock_ms=lambda: time.time_ns() // 1_000_000,
        randomness=lambda: uuid.uuid4().hex,
    )


def handler(event: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Answer one REST API proxy event; never raises for what a request or an outage can cause."""
    # First what a cold start has to make, which takes its time, then how much of it is left.
    dependencies = _dependencies()
    return respond(event, context.get_remaining_time_in_millis(), dependencies)


def respond(event: Mapping[str, Any], remaining_ms: int, dependencies: Dependencies) -> dict[str, Any]:
    """Let the effect of a REST API (v1) proxy event happen once, and answer it. Never raises.

    `remaining_ms`: how long this invocation may still run; its claim outlives it by a margin, and no more.
    """
    lease_until = dependencies.clock_ms() + remaining_ms + LEASE_MARGIN_MS
    request = http_request.parse(event)
    trace = ExecuteTrace(FUNCTION, dependencies.logger, dependencies.settings.stage, request)

    def work() -> dict[str, Any]:
        outcome = _executed(request, lease_until, dependencies, trace)
        result = intake.answer(outcome)
        trace.succeeded(outcome)
        return result

    return intake.respond(request, trace, dependencies.settings.cors_origins, work)


def _executed(
    request: HttpRequest, lease_until: int, dependencies: Dependencies, trace: ExecuteTrace
) -> Outcome:
    operation = BY_RESOURCE.get(request.resource)
    if operation is None:
        raise NotFound("there is no such resource")
    trace.operation = operation.name
    caller = trace.caller = intake.admitted(request, operation)
    settings = intake.settings_of(operation, caller)
    operation.require(settings)
    checked = intake.checked(request, operation, caller, settings, dependencies)
    trace.attempt = checked.owner
    store = TimedReceipts(dependencies.store)
    runtime = Runtime(
        store=store,
        clock_ms=dependencies.clock_ms,
        lease_until=lease_until,
        refused=lambda refusal: http.final(refusal, request),
        tell=trace.tell,
    )
    try:
        return execute(operation, operation.bind(dependencies.ports), settings, checked, runtime)
    finally:
        trace.store_ms = store.milliseconds
