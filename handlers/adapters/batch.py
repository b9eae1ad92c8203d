"""Lambda's batch protocol: which records of a batch failed, so that only those come again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType

from handlers.domain.errors import OncewardError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aws_lambda_powertools.utilities.batch.base import FailureResponse, SuccessResponse
    from aws_lambda_powertools.utilities.batch.exceptions import ExceptionInfo
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse

    RawRecord = dict[str, Any]


class BatchFailed(OncewardError):
    """Part of a batch failed and its sender takes a partial answer for success: it must come again whole."""


class NotAttempted(OncewardError):
    """An earlier record of the batch met an outage, so this one was left for the next delivery."""


def process(
    records: Sequence[RawRecord],
    source: EventType,
    deliver: Callable[[Mapping[str, Any]], None],
    *,
    partial_failures: bool,
) -> PartialItemFailureResponse:
    """Hand each raw record to `deliver`, in order, and report those that raised.

    The answer names the failed records by the ids they came with (`SequenceNumber` on a stream, `messageId`
    on a queue). From a stream, Lambda takes up again at the lowest of them: records after it come twice.

    Raises:
        BatchFailed: some failed and `partial_failures` says that the sender does not read the answer.
    """
    processor = _StopAtOutage(event_type=source, raise_on_entire_batch_failure=False)
    with processor(list(records), handler=lambda record: deliver(record.raw_event)):
        processor.process()
    response = processor.response()
    failed = len(response["batchItemFailures"])
    if failed and not partial_failures:
        raise BatchFailed(f"{failed} of {len(records)} records failed")
    return response


class _StopAtOutage(BatchProcessor):
    """Fails the rest of a batch unattempted once one of its records met an outage.

    What the records need, they all need: trying each against a store that is down would spend the function's
    time limit on nothing, and a stream brings them again anyway.
    """

    def _process_record(self, record: RawRecord) -> SuccessResponse | FailureResponse:
        if any(kind is not None and issubclass(kind, Unavailable) for kind, _, _ in self.exceptions):
            typed = self._to_batch_type(record, event_type=self.event_type)
            return self.failure_handler(record=typed, exception=_not_attempted())
        return super()._process_record(record)


def _not_attempted() -> ExceptionInfo:
    return NotAttempted, NotAttempted("an earlier record of the batch met an outage"), None
