"""`dispatch`: from the receipts stream to record, work queue and topic; from the retry queue likewise.

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

from handlers.adapters import batch, parking
from handlers.adapters.dispatch_trace import FUNCTION, DispatchTrace, reason_of
from handlers.adapters.receipt_item import from_item
from handlers.adapters.records import DynamoDbRecords
from handlers.adapters.topics import SnsTopics
from handlers.adapters.work_queue import SqsWorkQueues
from handlers.domain import cloud_event, work
from handlers.domain.errors import Refused, Unavailable
from handlers.domain.outbox import delivery_of, is_due
from handlers.domain.work_message import WorkMessage
from handlers.settings import DispatchSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from handlers.domain.outbox import Delivery

    Image = Mapping[str, Any]

# Lambda's names for the two event sources (`eventSource` of a record).
_STREAM: Final = "aws:dynamodb"
# What a record takes when its topic and the retry queue both let calls run into their timeouts: 7 s each
# (`handlers.adapters.aws`). With less left, the function would be killed over it.
_RECORD_MS: Final = 14_000


class Records(Protocol):
    """The records table."""

    def write(self, delivery: Delivery) -> str | None:
        """Write the record unless it is there; answers the status that it was found with, None for none.

        Raises DispatchConflict, Refused or Unavailable.
        """


class WorkQueues(Protocol):
    """The queues of work."""

    def send(self, message: WorkMessage) -> None:
        """Queue a piece of work; raises Refused or Unavailable."""


class Topics(Protocol):
    """The tenants' topics."""

    def publish(self, delivery: Delivery, event: str) -> None:
        """Publish on the tenant's topic; raises Refused or Unavailable."""


class Parking(Protocol):
    """Where records that fail for their own reasons wait."""

    def park(self, image: Image, error: str, parked_at_ms: int) -> None:
        """Queue the whole image for another attempt; raises Refused or Unavailable."""

    def back_off(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Let these messages wait before their next attempt; raises Refused or Unavailable."""


@dataclass(frozen=True)
class Dependencies:
    """What the handler works with; tests bring their own. `clock_ms`: ms since the epoch."""

    settings: DispatchSettings
    records: Records
    work_queues: WorkQueues
    topics: Topics
    parking: Parking
    logger: Logger
    clock_ms: Callable[[], int]

    def trace(self, image: Image) -> DispatchTrace:
        """What is said of the record of this image."""
        return DispatchTrace(self.logger, self.settings.stage, image)


@cache
def _dependencies() -> Dependencies:
    settings = DispatchSettings.from_environment()
    return Dependencies(
        settings=settings,
        records=DynamoDbRecords(settings.records_table),
        work_queues=SqsWorkQueues(settings.work_queue_urls),
        topics=SnsTopics(settings.topic_arn_prefix),
        parking=parking.RetryQueue(settings.retry_queue_url),
        logger=Logger(service=FUNCTION),
        clock_ms=lambda: time.time_ns() // 1_000_000,
    )


def handler(event: Mapping[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Deliver a batch of the stream or of the retry queue; answers the items to bring again."""
    return dispatch(event, _dependencies(), context.get_remaining_time_in_millis)


def dispatch(
    event: Mapping[str, Any], dependencies: Dependencies, remaining_ms: Callable[[], int]
) -> PartialItemFailureResponse:
    """Deliver what each record of `event` (DynamoDB stream or SQS) asks for.

    `remaining_ms`: how long the function may still run.

    Raises:
        BatchFailed: a record of a stream that ignores partial answers failed.
    """
    records = event["Records"]
    from_stream = bool(records) and records[0]["eventSource"] == _STREAM
    step, image_in = (_from_stream, _changed) if from_stream else (_from_queue, _parked)
    steps = batch.Steps(
        deliver=lambda record: step(record, dependencies),
        skip=lambda record, error: dependencies.trace(image_in(record)).not_attempted(error),
        has_time=lambda: remaining_ms() >= _RECORD_MS,
    )
    if from_stream:
        honoured = dependencies.settings.stream_honours_partial_failures
        return batch.process(records, EventType.DynamoDBStreams, steps, partial_failures=honoured)
    response = batch.process(records, EventType.SQS, steps, partial_failures=True)
    _back_off(records, response, dependencies)
    return response


def _from_stream(record: Mapping[str, Any], dependencies: Dependencies) -> None:
    change = record["dynamodb"]
    image = change.get("NewImage")
    if not is_due(image, change.get("OldImage")):
        return
    trace = dependencies.trace(image)
    try:
        said = _deliver(image, dependencies, trace)
    except batch.Outage as error:
        # Nothing is wrong with the record: it waits in the stream, in its place.
        trace.failed(error)
        raise
    except Exception as error:  # noqa: BLE001 - a record that breaks us must not hold up all tenants behind it
        _park(image, error, trace, dependencies)
    else:
        said()


def _from_queue(record: Mapping[str, Any], dependencies: Dependencies) -> None:
    trace = dependencies.trace({})
    try:
        parked = parking.parked_in(record["body"])
        trace = dependencies.trace(parked.image)
        said = _deliver(parked.image, dependencies, trace, republish=parked.republish)
    except batch.Outage as error:
        trace.failed(error)
        raise
    except Exception as error:
        # Never parked again: its message stays, and the queue's redrive policy counts the attempts.
        trace.still_parked(error)
        raise
    said()


def _park(image: Image, error: Exception, trace: DispatchTrace, dependencies: Dependencies) -> None:
    try:
        dependencies.parking.park(image, reason_of(error), dependencies.clock_ms())
    except Exception as parking_error:
        trace.failed(parking_error)
        if isinstance(parking_error, Unavailable):
            raise batch.Outage(str(parking_error)) from parking_error
        raise
    trace.parked(error)


def _back_off(
    records: Sequence[Mapping[str, Any]], response: PartialItemFailureResponse, dependencies: Dependencies
) -> None:
    failed = {item["itemIdentifier"] for item in response["batchItemFailures"]}
    try:
        dependencies.parking.back_off([record for record in records if record["messageId"] in failed])
    except Exception as error:  # noqa: BLE001 - raised, it would fail the messages that were delivered
        # They come back after the queue's visibility timeout: sooner than meant, and no worse.
        dependencies.logger.warning("no_back_off", extra={"reason": reason_of(error)})


def _deliver(
    image: Image, dependencies: Dependencies, trace: DispatchTrace, *, republish: bool = False
) -> Callable[[], None]:
    """The steps of DESIGN section 8, in this order: who hears of a record must be able to read it.

    `republish`: an operator asks for the event once more, also of work that is done and would do nothing.
    Answers what is to be said of it.

    Raises:
        Outage: what all tenants share does not answer: the records table, or a queue of work. Whatever else
            it raises is this record's: a topic is its tenant's alone, even where it only throttles.
    """
    delivery = delivery_of(from_item(image))
    try:
        # Written before or by us: either way the event may not be out yet, so it goes on. Before the event is
        # even made: a document that makes none must not cost its caller the record.
        status = dependencies.records.write(delivery)
    except Unavailable as error:
        raise batch.Outage(str(error)) from error
    stage = dependencies.settings.stage
    follows = work.BY_OPERATION.get(delivery.operation)
    if follows is None or not follows.announces:
        # Before the work is queued: without a destination a webhook is delivered when the topic has it.
        dependencies.topics.publish(delivery, cloud_event.encode(delivery, stage))
    elif republish and status == follows.done:
        # Its worker would find it done, and say nothing.
        dependencies.topics.publish(delivery, cloud_event.encode_done(delivery, follows, stage))
        return trace.republished
    if follows is not None:
        _queue_work(WorkMessage.of(delivery), dependencies)
    return lambda: trace.dispatched(dependencies.clock_ms() - delivery.created_at)


def _queue_work(message: WorkMessage, dependencies: Dependencies) -> None:
    try:
        # Once more for a record that comes again: its first message may never have been sent. A second one
        # finds the work done, or in hand.
        dependencies.work_queues.send(message)
    except (Unavailable, Refused) as error:
        # Of the record it holds ids only, which the queue cannot mind: what it minds is ours to mend.
        raise batch.Outage(str(error)) from error


def _changed(record: Mapping[str, Any]) -> Image:
    return record["dynamodb"].get("NewImage") or {}


def _parked(record: Mapping[str, Any]) -> Image:
    try:
        return parking.parked_in(record["body"]).image
    except Exception:  # noqa: BLE001 - only to say whose it is; its own attempt will say what is wrong with it
        return {}
