"""A batch of a queue of work: one message after the other; only those come again that are not finished."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from aws_lambda_powertools.utilities.batch import EventType

from handlers.adapters import batch
from handlers.adapters.dispatch_trace import reason_of
from handlers.adapters.work_trace import Telling, Words, WorkTrace
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from handlers.domain.work_item import WorkClaim
from handlers.domain.work_message import message_in
from handlers.domain.worker import Ended, GivenUp, Turn, TwinInProgress, work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse

    from handlers.domain.work import Work
    from handlers.domain.work_item import WorkStore
    from handlers.domain.worker import Act

# What one piece of work takes when everything is slow: claim, registry, secret, event bus and mark (7 s each,
# see `aws`), a destination that answers at the last moment (8 s, see `delivery`), some air. With less left,
# the next one waits. Ten hanging destinations still all have their turn in a worker's two minutes.
ITEM_MS: Final = 45_000
# A lease outlives its function by what the clocks of two machines may differ by (DESIGN section 7).
_SKEW_MS: Final = 5_000
# The pauses between attempts: 5 s, doubled each time, four minutes at the most. The longest is shorter than
# the reconciler's first period (handlers.domain.pending), which else took a pause for a lost message. With
# twelve receives (infra.settings) a destination may be down for 25 minutes before a person is asked.
_FIRST_PAUSE_SECONDS: Final = 5
LONGEST_PAUSE_SECONDS: Final = 240


class Pauses(Protocol):
    """The queue, told when to bring a message again."""

    def hide(self, pauses: Mapping[str, int]) -> None:
        """Hide messages, by receipt handle, for so many seconds; raises Refused or Unavailable."""


@dataclass(frozen=True)
class Worker:
    """What works through batches.

    Attributes:
        words: of its metrics.
        owner: a fresh random word per claim.
        detailed: see `Telling.detailed`.
    """

    work: Work
    stage: str
    max_receives: int
    store: WorkStore
    act: Act
    pauses: Pauses
    words: Words
    logger: Logger
    clock_ms: Callable[[], int]
    owner: Callable[[], str]
    detailed: Callable[[str], bool]

    def trace(self, message_id: str) -> WorkTrace:
        """What is said of one message."""
        telling = Telling(self.logger, self.stage, self.words, self.work.operation, self.detailed)
        return WorkTrace(telling, message_id)


def pause_seconds(receives: int) -> int:
    """How long a message waits after its attempt number `receives` (from 1), seconds."""
    # The exponent is bounded too: an operator may have set another number of receives.
    return min(_FIRST_PAUSE_SECONDS << min(receives - 1, 16), LONGEST_PAUSE_SECONDS)


def run(
    event: Mapping[str, Any], worker: Worker, remaining_ms: Callable[[], int]
) -> PartialItemFailureResponse:
    """Do the work that the messages of `event` (SQS) ask for; answers those to bring again.

    `remaining_ms`: how long the function may still run.
    """
    one = _Batch(worker, remaining_ms)
    steps = batch.Steps(deliver=one.deliver, skip=one.skip, has_time=lambda: remaining_ms() >= ITEM_MS)
    response = batch.process(event["Records"], EventType.SQS, steps, partial_failures=True)
    try:
        worker.pauses.hide(one.pauses)
    except Exception as error:  # noqa: BLE001 - raised, it would fail the messages that are finished
        # They come back after the queue's visibility timeout: later than meant, and no worse.
        worker.logger.warning("no_pause", extra={"reason": reason_of(error)})
    return response


@dataclass
class _Batch:
    worker: Worker
    remaining_ms: Callable[[], int]
    pauses: dict[str, int] = field(default_factory=dict)

    def deliver(self, record: Mapping[str, Any]) -> None:
        worker, receives = self.worker, _receives(record)
        trace = self._trace(record)
        try:
            ended = work(self._turn(record, receives, trace), worker.store, worker.act)
        except TwinInProgress as error:
            # Never acknowledged: should the twin fail, this message is all that is left of the work.
            trace.twin(self._pause(record, -(-(error.lease_until - worker.clock_ms()) // 1000) + 1))
            raise
        except GivenUp as error:
            # Seen once more by the queue, it goes to the dead-letter queue: no use in waiting for that.
            trace.failed(error, self._pause(record, 0))
            raise
        except Exception as error:
            trace.failed(error, self._pause(record, pause_seconds(receives)))
            if isinstance(error, (Unavailable, Refused)):
                raise batch.Outage(str(error)) from error
            raise
        if ended is Ended.DONE:
            trace.done(worker.clock_ms())
        else:
            trace.done_before()

    def skip(self, record: Mapping[str, Any], error: batch.NotAttempted) -> None:
        trace = self._trace(record)
        with suppress(CorruptItem):  # its own attempt will say what is wrong with it
            trace.names(message_in(record), _receives(record))
        # Another worker may have time for it at once. An outage lasts: with a short pause it would use up the
        # receives of nine messages of ten, and the dead-letter queue take what nobody ever tried.
        receives = _receives(record) if isinstance(error, batch.AfterOutage) else 1
        self._pause(record, pause_seconds(receives))
        trace.not_attempted(error)

    def _turn(self, record: Mapping[str, Any], receives: int, trace: WorkTrace) -> Turn:
        worker, message = self.worker, message_in(record)
        trace.names(message, receives)
        if message.operation != worker.work.operation:
            raise CorruptItem(f"a message of {message.operation} in the queue of {worker.work.operation}")
        now_ms = worker.clock_ms()
        lease_until = now_ms + self.remaining_ms() + _SKEW_MS
        claim = WorkClaim(worker.work, message, worker.owner(), now_ms, lease_until)
        trace.claims(claim.owner)
        return Turn(claim, worker.clock_ms, receives >= worker.max_receives, trace.claimed)

    def _pause(self, record: Mapping[str, Any], seconds: int) -> int:
        self.pauses[record["receiptHandle"]] = max(seconds, 0)
        return self.pauses[record["receiptHandle"]]

    def _trace(self, record: Mapping[str, Any]) -> WorkTrace:
        return self.worker.trace(str(record.get("messageId")))


def _receives(record: Mapping[str, Any]) -> int:
    return int(record["attributes"]["ApproximateReceiveCount"])
