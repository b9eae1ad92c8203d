"""What a worker says of one message: a log line and its metrics. Never the payload."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from handlers.adapters import metrics
from handlers.adapters.dispatch_trace import reason_of
from handlers.domain.destination import DestinationRefused, NotConfigured
from handlers.domain.errors import LeaseLost
from handlers.domain.outbound import AnswerLost, DestinationForbidden, NotSent
from handlers.domain.work_message import UNKNOWN
from handlers.domain.worker import GivenUp

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools import Logger

    from handlers.domain.work_item import WorkItem
    from handlers.domain.work_message import WorkMessage

# What a tenant's destination, or its set-up, is at fault for; and a worker that was too slow. All else is
# ours (ADR 81), or a fault of the code: it counts as WorkBroke too, which rolls a release back.
_NOT_OURS: Final = (
    *(NotConfigured, DestinationForbidden, DestinationRefused, NotSent, AnswerLost),
    LeaseLost,
)


@dataclass(frozen=True)
class Words:
    """The metrics of a worker.

    Attributes:
        function: its name.
        done: counts the pieces of work that were done.
        failed: counts the attempts that were not; those whose fault is ours also count as `WorkBroke`.
        lag: milliseconds from acceptance to done.
    """

    function: str
    done: str
    failed: str
    lag: str


@dataclass(frozen=True)
class Telling:
    """How a worker tells what it did.

    Attributes:
        operation: whose work it is.
        detailed: whether a tenant has its metrics in detail. It makes no call: of a tenant that the process
            has not met yet it is not known, and then it says no.
    """

    logger: Logger
    stage: str
    words: Words
    operation: str
    detailed: Callable[[str], bool]


class WorkTrace:
    """Says what became of one message. None of its methods raises."""

    def __init__(self, telling: Telling, message_id: str) -> None:
        self._telling = telling
        self._words = telling.words
        self._tenant_id: str | None = None
        self._created_at: int | None = None
        self._ids: dict[str, str | int] = {"operation": telling.operation, "message_id": message_id}

    def names(self, message: WorkMessage, receives: int) -> None:
        """The message says which work it is about."""
        self._tenant_id = message.tenant_id
        self._ids |= {
            "tenant": message.tenant_id,
            "record_id": message.record_id,
            "event_id": message.event_id,
            "correlation_id": message.correlation_id,
            "receives": receives,
        }

    def claims(self, owner: str) -> None:
        """An attempt begins, under this owner's word."""
        self._ids["attempt"] = owner

    def claimed(self, item: WorkItem) -> None:
        """The work is ours; the record knows more of it than the message."""
        self._created_at = item.delivery.created_at
        self._ids["attempts"] = item.attempts
        if self._ids.get("correlation_id", UNKNOWN) == UNKNOWN:
            self._ids["correlation_id"] = item.delivery.correlation_id

    def done(self, now_ms: int) -> None:
        """It is done, and marked so."""
        lag = {} if self._created_at is None else {self._words.lag: float(now_ms - self._created_at)}
        self._say("done", {self._words.done: 1}, lag, {})

    def done_before(self) -> None:
        """It was done before: the message is acknowledged."""
        self._say("done_before", {"DoneBefore": 1}, {}, {})

    def twin(self, pause_seconds: int) -> None:
        """Another attempt is at it; the message comes again when that one cannot be any more."""
        self._say("twin_in_progress", {"TwinInProgress": 1}, {}, {"pause_seconds": pause_seconds})

    def failed(self, error: Exception, pause_seconds: int) -> None:
        """The attempt failed for `error`; the message comes again, or waits for a person (GivenUp)."""
        counts = {self._words.failed: 1}
        if isinstance(error, LeaseLost):
            counts["LeaseLost"] = 1
        given_up = isinstance(error, GivenUp)
        if not isinstance(error.__cause__ if given_up else error, _NOT_OURS):
            counts["WorkBroke"] = 1
        if given_up:
            counts["WorkGivenUp"] = 1
        outcome = "given_up" if given_up else "failed"
        self._say(outcome, counts, {}, {"reason": reason_of(error), "pause_seconds": pause_seconds})

    def not_attempted(self, error: Exception) -> None:
        """It was not tried: what held it up is counted by the message that met it."""
        self._say("not_attempted", {}, {}, {"reason": reason_of(error)})

    def _say(
        self, outcome: str, counts: dict[str, int], ms: dict[str, float], more: dict[str, str | int]
    ) -> None:
        fine = outcome in {"done", "done_before", "twin_in_progress"}
        log = self._telling.logger.info if fine else self._telling.logger.error
        # What was done is done: nothing comes again because nobody could be told of it.
        with suppress(Exception):
            log(outcome, extra={"outcome": outcome, **self._ids, **more})
        if counts:
            with suppress(Exception):
                metrics.emit(self._about(), counts, ms)

    def _about(self) -> metrics.About:
        telling, tenant_id = self._telling, self._tenant_id
        detailed = tenant_id is not None and telling.detailed(tenant_id)
        return metrics.About(telling.stage, self._words.function, telling.operation, tenant_id, detailed)
