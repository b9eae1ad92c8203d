"""What `dispatch` says of one record: a log line and its metrics. Never the payload."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from handlers.adapters import metrics, topics
from handlers.domain.errors import OncewardError, Unavailable, where
from handlers.domain.metric_catalogue import DETAILED
from handlers.domain.outbox import DispatchConflict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_lambda_powertools import Logger

FUNCTION: Final = "dispatch"
_UNKNOWN: Final = "unknown"


class DispatchTrace:
    """Says what became of one image (DynamoDB JSON, malformed in any way). None of its methods raises."""

    def __init__(self, logger: Logger, stage: str, image: Mapping[str, Any]) -> None:
        self._logger = logger
        tenant_id = _text(image, "tenantId")
        # The receipt says so itself: whoever accepted it knew.
        detailed = _text(image, "metrics") == DETAILED
        # Such an image names nobody, and what it says instead is no tenant.
        named = None if tenant_id == _UNKNOWN else tenant_id
        self._about = metrics.About(stage, FUNCTION, _text(image, "operation"), named, detailed)
        self._ids = {
            "tenant": tenant_id,
            "operation": self._about.operation,
            "event_id": _text(image, "outboxId"),
            "correlation_id": _text(image, "correlationId"),
            # The attempt that was accepted.
            "attempt": _text(image, "owner"),
        }

    def dispatched(self, lag_ms: int) -> None:
        """Recorded and published, `lag_ms` after it was accepted."""
        self._say("dispatched", {"Dispatched": 1}, {"DispatchLag": lag_ms}, {"lag_ms": lag_ms})

    def republished(self) -> None:
        """Its work was done long ago; its event was published once more."""
        self._say("republished", {"Dispatched": 1}, {}, {})

    def parked(self, error: Exception) -> None:
        """It failed for `error`, and waits on the retry queue."""
        # A version that makes nothing of any receipt parks them all, and has to be rolled back for it: what
        # is not its topic's counts as ours too. Once a receipt, so that a single bad one is no fault of all.
        ours = {} if _of_its_topic(error) else {"DispatchFailed": 1}
        counts = {"DispatchParked": 1} | ours | _conflicts(error)
        self._say("parked", counts, {}, {"reason": reason_of(error)})

    def still_parked(self, error: Exception) -> None:
        """Brought by the retry queue it failed again, for `error`, and waits on."""
        self._say("still_parked", {"StillParked": 1} | _conflicts(error), {}, {"reason": reason_of(error)})

    def failed(self, error: Exception) -> None:
        """It met `error`, which is no fault of its own, and comes again from where it came."""
        self._say("failed", {"DispatchFailed": 1} | _conflicts(error), {}, {"reason": reason_of(error)})

    def not_attempted(self, error: Exception) -> None:
        """It was not tried: what held it up is counted by the record that met it."""
        self._say("not_attempted", {}, {}, {"reason": reason_of(error)})

    def _say(
        self, outcome: str, counts: dict[str, int], ms: dict[str, float], more: dict[str, str | int]
    ) -> None:
        fine = outcome in {"dispatched", "republished"}
        log = self._logger.info if fine else self._logger.error
        said: dict[str, str | int] = {"outcome": outcome, **self._ids, **more}
        # What was done is done: nothing is delivered again, or parked, because nobody could be told of it.
        with suppress(Exception):
            log(outcome, extra=said)
        if counts:
            with suppress(Exception):
                metrics.emit(self._about, counts, ms)


def reason_of(error: Exception) -> str:
    """What is said of an error in logs and parked messages: never what a foreign error quotes of the data."""
    return str(error) if isinstance(error, OncewardError) else where(error)


def _of_its_topic(error: Exception) -> bool:
    return topics.refuses(error) or (isinstance(error, Unavailable) and error.service == topics.SERVICE)


def _conflicts(error: Exception) -> dict[str, int]:
    return {"DispatchConflict": 1} if isinstance(error, DispatchConflict) else {}


def _text(image: Mapping[str, Any], name: str) -> str:
    # For the log of an image that may be malformed in any way, so nothing is assumed of it.
    attribute = image.get(name)
    value = attribute.get("S") if isinstance(attribute, dict) else None
    return value if isinstance(value, str) and value else _UNKNOWN
