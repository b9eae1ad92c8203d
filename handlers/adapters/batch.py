"""Lambda's batch protocol: which records of a batch failed, so that only those come again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType

from handlers.domain.errors import OncewardError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aws_lambda_powertools.utilities.batch.base import FailureResponse, SuccessResponse
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse

    RawRecord = dict[str, Any]


class BatchFailed(OncewardError):
    """Part of a batch failed and its sender takes a partial answer for success: it must come again whole."""


class Outage(OncewardError):
    """What every record of the batch needs does not answer: the next one cannot fare better."""


class NotAttempted(OncewardError):
    """The record was left for the next delivery; its kind says why."""

    reason: ClassVar[str]

    def __init__(self) -> None:
        super().__init__(f"not attempted: {self.reason}")


class AfterOutage(NotAttempted):
    """What every record needs did not answer a moment ago, and may not for a while."""

    reason = "an earlier record of the batch met an outage"


class TimeUp(NotAttempted):
    """Another function has the time for it."""

    reason = "the function's time is up"


@dataclass(frozen=True)
class Steps:
    """What is done with the raw records of a batch.

    Attributes:
        deliver: one record; what it raises fails that record, and an `Outage` ends the batch.
        skip: a record that is left for the next delivery, and why.
        has_time: whether there is time left for another record.
    """

    deliver: Callable[[Mapping[str, Any]], None]
    skip: Callable[[Mapping[str, Any], NotAttempted], None]
    has_time: Callable[[], bool]


def process(
    records: Sequence[RawRecord], source: EventType, steps: Steps, *, partial_failures: bool
) -> PartialItemFailureResponse:
    """Hand each raw record to `steps.deliver`, in order, and report those that raised or were skipped.

    The answer names the failed records by the ids they came with (`SequenceNumber` on a stream, `messageId`
    on a queue). From a stream, Lambda takes up again at the lowest of them: records after it come twice.

    Raises:
        BatchFailed: some failed and `partial_failures` says that the sender does not read the answer.
    """
    processor = _Processor(source, steps)
    with processor(list(records), handler=lambda record: steps.deliver(record.raw_event)):
        processor.process()
    response = processor.response()
    failed = len(response["batchItemFailures"])
    if failed and not partial_failures:
        raise BatchFailed(f"{failed} of {len(records)} records failed")
    return response


class _Processor(BatchProcessor):
    """Fails the rest of a batch unattempted after an outage, and when the time runs out.

    After an outage, trying each record against a store that is down would spend the function's time on
    nothing. Out of time, the function would be killed, and what it has delivered would come again too.
    """

    def __init__(self, source: EventType, steps: Steps) -> None:
        super().__init__(event_type=source, raise_on_entire_batch_failure=False)
        self._steps = steps

    def _process_record(self, record: RawRecord) -> SuccessResponse | FailureResponse:
        skipped = self._reason_to_stop()
        if skipped is None:
            return super()._process_record(record)
        self._steps.skip(record, skipped)
        typed = self._to_batch_type(record, event_type=self.event_type)
        return self.failure_handler(record=typed, exception=(type(skipped), skipped, None))

    def _reason_to_stop(self) -> NotAttempted | None:
        if any(kind is not None and issubclass(kind, Outage) for kind, _, _ in self.exceptions):
            return AfterOutage()
        # The first is always tried: a batch that gets nowhere would come back for ever.
        tried = self.success_messages or self.fail_messages
        return TimeUp() if tried and not self._steps.has_time() else None
