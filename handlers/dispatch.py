"""`dispatch`: from the receipts stream to the record and the tenant's topic; from the retry queue likewise.

Works from the image alone. Everything it does may be done again: the record is written once, and an event
published twice has the same id.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import EventType

from handlers.adapters import batch, metrics, parking
from handlers.adapters.receipt_item import from_item
from handlers.adapters.records import DynamoDbRecords
from handlers.adapters.topics import SnsTopics
from handlers.domain import cloud_event
from handlers.domain.errors import OncewardError, Unavailable
from handlers.domain.outbox import DispatchConflict, delivery_of, is_due
from handlers.http import where
from handlers.settings import DispatchSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse

    from handlers.domain.outbox import Delivery

    Image = Mapping[str, Any]

_SERVICE: Final = "dispatch"
# Lambda's names for the two event sources (`eventSource` of a record).
_STREAM: Final = "aws:dynamodb"


class Records(Protocol):
    """The records table."""

    def write(self, delivery: Delivery) -> bool:
        """Write the record unless it is there; raises DispatchConflict, Refused or Unavailable."""


class Topics(Protocol):
    """The tenants' topics."""

    def publish(self, delivery: Delivery, event: str) -> None:
        """Publish on the tenant's topic; raises Refused or Unavailable."""


class Parking(Protocol):
    """Where records that fail for their own reasons wait."""

    def park(self, image: Image, error: str, parked_at_ms: int) -> None:
        """Queue the whole image for another attempt; raises Refused or Unavailable."""


@dataclass(frozen=True)
class Dependencies:
    """What the handler works with; tests bring their own. `clock_ms`: ms since the epoch."""

    settings: DispatchSettings
    records: Records
    topics: Topics
    parking: Parking
    logger: Logger
    clock_ms: Callable[[], int]


@cache
def _dependencies() -> Dependencies:
    settings = DispatchSettings.from_environment()
    return Dependencies(
        settings=settings,
        records=DynamoDbRecords(settings.records_table),
        topics=SnsTopics(settings.topic_arn_prefix),
        parking=parking.RetryQueue(settings.retry_queue_url),
        logger=Logger(service=_SERVICE),
        clock_ms=lambda: time.time_ns() // 1_000_000,
    )


def handler(event: Mapping[str, Any], context: object) -> PartialItemFailureResponse:  # noqa: ARG001 - Lambda's
    """Deliver a batch of the stream or of the retry queue; answers the items to bring again."""
    return dispatch(event, _dependencies())


def dispatch(event: Mapping[str, Any], dependencies: Dependencies) -> PartialItemFailureResponse:
    """Deliver what each record of `event` (DynamoDB stream or SQS) asks for.

    Raises:
        BatchFailed: a record of a stream that ignores partial answers failed.
    """
    records = event["Records"]
    if records[0]["eventSource"] == _STREAM:
        return batch.process(
            records,
            EventType.DynamoDBStreams,
            lambda record: _from_stream(record, dependencies),
            partial_failures=dependencies.settings.stream_honours_partial_failures,
        )
    return batch.process(
        records, EventType.SQS, lambda record: _from_queue(record, dependencies), partial_failures=True
    )


def _from_stream(record: Mapping[str, Any], dependencies: Dependencies) -> None:
    change = record["dynamodb"]
    image = change.get("NewImage")
    if not is_due(image, change.get("OldImage")):
        return
    trace = _Trace(dependencies, image)
    try:
        trace.dispatched(_deliver(image, dependencies))
    except Unavailable as error:
        # Nothing is wrong with the record: it waits in the stream, in its place.
        trace.failed(error)
        raise
    except Exception as error:  # noqa: BLE001 - a record that breaks us must not hold up all tenants behind it
        _park(image, error, trace, dependencies)


def _from_queue(record: Mapping[str, Any], dependencies: Dependencies) -> None:
    trace = _Trace(dependencies, {})
    try:
        image = parking.image_in(record["body"])
        trace = _Trace(dependencies, image)
        trace.dispatched(_deliver(image, dependencies))
    except Exception as error:
        # Never parked again: its message stays, and the queue's redrive policy counts the attempts.
        trace.failed(error)
        raise


def _park(image: Image, error: Exception, trace: _Trace, dependencies: Dependencies) -> None:
    try:
        dependencies.parking.park(image, reason_of(error), dependencies.clock_ms())
    except Exception as parking_error:
        trace.failed(parking_error)
        raise
    trace.parked(error)


def _deliver(image: Image, dependencies: Dependencies) -> Delivery:
    """The steps of DESIGN section 8, in this order: who hears of a record must be able to read it."""
    delivery = delivery_of(from_item(image))
    # Written before or by us: either way the event may not be out yet, so it goes on. Before the event is
    # even made: a document that makes none must not cost its caller the record.
    dependencies.records.write(delivery)
    dependencies.topics.publish(delivery, cloud_event.encode(delivery, dependencies.settings.stage))
    return delivery


def reason_of(error: Exception) -> str:
    """What is said of an error in logs and parked messages: never what a foreign error quotes of the data."""
    return str(error) if isinstance(error, OncewardError) else where(error)


class _Trace:
    """What is said of one record: a log line and its metrics. Never the payload."""

    def __init__(self, dependencies: Dependencies, image: Image) -> None:
        self._dependencies = dependencies
        self._tenant_id = _text(image, "tenantId")
        self._operation = _text(image, "operation")
        self._event_id = _text(image, "outboxId")
        self._correlation_id = _text(image, "correlationId")

    def dispatched(self, delivery: Delivery) -> None:
        lag = self._dependencies.clock_ms() - delivery.created_at
        self._say("dispatched", {"Dispatched": 1}, {"DispatchLag": lag}, {"lag_ms": lag})

    def parked(self, error: Exception) -> None:
        self._say("parked", {"DispatchParked": 1} | _conflicts(error), {}, {"reason": reason_of(error)})

    def failed(self, error: Exception) -> None:
        self._say("failed", {"DispatchFailed": 1} | _conflicts(error), {}, {"reason": reason_of(error)})

    def _say(
        self, outcome: str, counts: dict[str, int], ms: dict[str, float], more: dict[str, str | int]
    ) -> None:
        logger = self._dependencies.logger
        log = logger.info if outcome == "dispatched" else logger.error
        said: dict[str, str | int] = {
            "outcome": outcome,
            "tenant": self._tenant_id,
            "operation": self._operation,
            "event_id": self._event_id,
            "correlation_id": self._correlation_id,
        }
        log(outcome, extra=said | more)
        service = metrics.service_name(self._dependencies.settings.stage, _SERVICE)
        metrics.emit(service, self._operation, self._tenant_id, counts, ms)


def _conflicts(error: Exception) -> dict[str, int]:
    return {"DispatchConflict": 1} if isinstance(error, DispatchConflict) else {}


def _text(image: Image, name: str) -> str:
    # For the log of an image that may be malformed in any way, so nothing is assumed of it.
    attribute = image.get(name)
    value = attribute.get("S") if isinstance(attribute, dict) else None
    return value if isinstance(value, str) and value else "unknown"
