"""`read`: a record by its id, and what became of an idempotency key."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import unquote

from aws_lambda_powertools import Logger

from handlers import http, http_request
from handlers.adapters import metrics
from handlers.adapters.receipt_reader import DynamoDbReceiptReader
from handlers.adapters.records import DynamoDbRecords
from handlers.domain import access, ids, keys
from handlers.domain.caller import Caller
from handlers.domain.errors import NotFound, OncewardError, RequestRefused, where
from handlers.domain.json_text import compact
from handlers.domain.receipt import StoredResponse
from handlers.domain.timestamps import rfc3339
from handlers.settings import ReadSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.receipt import Receipt

_SERVICE: Final = "read"
_RECEIPTS: Final = "receipts"
_KEY: Final = "key"
OPERATIONS: Final[Mapping[str, str]] = {
    "/v1/leads/{id}": "leads",
    "/v1/payments/{id}": "payments",
    "/v1/appointments/{id}": "appointments",
    "/v1/orders/{id}": "orders",
    "/v1/webhook-events/{id}": "webhooks",
    "/v1/receipts/{key+}": _RECEIPTS,
}
"""By REST resource: the operation whose records (or, for `receipts`, whose keys) it shows."""

# A 201 is durable before its record is written: the stream brings it to `dispatch` within a second or so, ten
# at the outside, and after that an id is there or nobody ever had it (DESIGN section 8).
_YOUNG_MS: Final = 10_000
_PATIENCE_MS: Final = 2_000
# An id's time comes from the gateway's clock and is compared with this function's.
_SKEW_MS: Final = 5_000
# Most records are there within a tenth of a second, so it looks soon, then seldom: each look is a read unit.
_FIRST_PAUSE_MS: Final = 50
_LONGEST_PAUSE_MS: Final = 400
_RETRY_AFTER_SECONDS: Final = 1


class Records(Protocol):
    """The records table."""

    def document(self, tenant_id: str, operation: str, record_id: str) -> str | None:
        """The record's JSON text; raises Unavailable, Refused or CorruptItem."""


class Receipts(Protocol):
    """The receipts table, read."""

    def find(self, tenant_id: str, key: str) -> Receipt | None:
        """The receipt of a key; raises Unavailable, Refused or CorruptItem."""


@dataclass(frozen=True)
class Dependencies:
    """What the handler works with; tests bring their own. Both clocks are in ms."""

    settings: ReadSettings
    records: Records
    receipts: Receipts
    logger: Logger
    clock_ms: Callable[[], int]
    sleep_ms: Callable[[int], None]


@cache
def _dependencies() -> Dependencies:
    settings = ReadSettings.from_environment()
    return Dependencies(
        settings=settings,
        records=DynamoDbRecords(settings.records_table),
        receipts=DynamoDbReceiptReader(settings.receipts_table),
        logger=Logger(service=_SERVICE),
        clock_ms=lambda: time.time_ns() // 1_000_000,
        sleep_ms=lambda pause: time.sleep(pause / 1000),
    )


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answer one REST API proxy event; never raises for what a request or an outage can cause."""
    return read(event, _dependencies())


def read(event: Mapping[str, Any], dependencies: Dependencies) -> dict[str, Any]:
    """Answer a GET of one of the resources in `OPERATIONS`: a record by its id, a receipt by its key."""
    started = time.perf_counter()
    request = http_request.parse(event)
    operation, caller = "unknown", None
    failure: Exception | None = None
    try:
        operation = OPERATIONS[request.resource]
        caller = Caller.from_context(request.authorizer)
        access.check(caller, permission(request.resource), request.header("Origin"))
        result = _ok(_body(event, operation, caller, dependencies))
    except OncewardError as error:
        result, failure = http.problem(error, request), error
    except Exception as error:  # noqa: BLE001 - else the gateway answers, and its 502 leaks the message
        result, failure = http.problem(None, request), error
    answer = http.finish(result, request, dependencies.settings.cors_origins)
    said = {
        "tenant": caller.tenant_id if caller else None,
        "key_name": caller.key_name if caller else None,
        "operation": operation,
        "correlation_id": request.correlation_id,
        "request_id": request.request_id,
        "status": result["statusCode"],
        "request_ms": round((time.perf_counter() - started) * 1000, 1),
    }
    detailed = caller is not None and caller.detailed_metrics
    _tell(dependencies, failure, said, detailed=detailed)
    return answer


def permission(resource: str) -> str:
    """What a key must be allowed to read a resource of `OPERATIONS`, such as `webhook-events:read`."""
    return f"{resource.split('/')[2]}:read"


def path_parameter(event: Mapping[str, Any], name: str) -> str:
    """A path parameter of a proxy event, percent-decoded exactly once.

    REST APIs hand path parameters on as the caller wrote them, percent-encoded (seen in captures of AWS; the
    documentation does not say). Whoever decodes them first (HTTP APIs, and the local AWS) uses payload format
    1.0 and says so in `version`, a member that REST API events do not have.
    """
    raw: str = (event.get("pathParameters") or {}).get(name) or ""
    return raw if "version" in event else unquote(raw)


def _body(event: Mapping[str, Any], operation: str, caller: Caller, dependencies: Dependencies) -> str:
    if operation == _RECEIPTS:
        return _receipt(caller.tenant_id, _key(path_parameter(event, _KEY)), dependencies)
    return _record(caller.tenant_id, operation, path_parameter(event, "id"), dependencies)


def _key(sent: str) -> str:
    # As in the header: what is quoted there is quoted here, and means the key without its quotes. (The blanks
    # that a header may have around a key are the header's: no key has any.)
    return keys.parse(sent) if sent.startswith('"') else keys.check(sent)


def _record(tenant_id: str, operation: str, record_id: str, dependencies: Dependencies) -> str:
    created_at = ids.created_at_ms(record_id)
    if created_at is None:
        # No id of ours is spelled like this, so there is nothing to look for.
        raise NotFound(f"there is no such record of {operation}")
    now = dependencies.clock_ms()
    young = -_SKEW_MS <= now - created_at < _YOUNG_MS
    deadline, pause = now + (_PATIENCE_MS if young else 0), _FIRST_PAUSE_MS
    while (document := dependencies.records.document(tenant_id, operation, record_id)) is None:
        if dependencies.clock_ms() + pause > deadline:
            # The same answer whether it is nobody's, another tenant's or another operation's.
            retry_after = _RETRY_AFTER_SECONDS if young else None
            raise NotFound(f"there is no such record of {operation}", retry_after)
        dependencies.sleep_ms(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_MS)
    return document


def _receipt(tenant_id: str, key: str, dependencies: Dependencies) -> str:
    receipt = dependencies.receipts.find(tenant_id, key)
    if receipt is None:
        raise NotFound("no request with this key is known")
    return compact(
        {
            "key": receipt.key,
            "operation": receipt.operation,
            "status": receipt.status.value,
            "firstSeen": rfc3339(receipt.created_at),
            "expires": rfc3339(receipt.expires_at),
            # Where the first answer said that the record is; None while there is no answer.
            "record": receipt.response.headers.get("Location") if receipt.response else None,
            "recordId": receipt.outbox.record_id if receipt.outbox else None,
            "correlationId": receipt.correlation_id,
        }
    )


def _ok(body: str) -> dict[str, Any]:
    return http.answer(StoredResponse(http.OK, {"Content-Type": "application/json"}, body))


def _counts(failure: Exception | None) -> dict[str, int]:
    # A zero where nothing failed, so that the average is the share of failures.
    if failure is None:
        return {"Failed": 0}
    return {"Failed": 0, "Rejected": 1} if isinstance(failure, RequestRefused) else {"Failed": 1}


def _tell(
    dependencies: Dependencies, failure: Exception | None, said: dict[str, Any], *, detailed: bool
) -> None:
    # The answer is made: that nobody can be told of it must not take it away.
    with suppress(Exception):
        _log(dependencies.logger, failure, said)
    with suppress(Exception):
        stage = dependencies.settings.stage
        about = metrics.About(stage, _SERVICE, said["operation"], said["tenant"], detailed)
        metrics.emit(about, _counts(failure), {"RequestLatency": said["request_ms"]})


def _log(logger: Logger, failure: Exception | None, said: dict[str, Any]) -> None:
    if failure is None:
        logger.info("answered", extra=said | {"outcome": "answered"})
    elif isinstance(failure, RequestRefused):
        logger.info("rejected", extra=said | {"outcome": "rejected", "reason": failure.detail})
    else:
        reason = str(failure) if isinstance(failure, OncewardError) else where(failure)
        logger.error("failed", extra=said | {"outcome": "failed", "reason": reason})
