"""What `webhooks` says of one request: a log line and its metrics. Never an event's id, never a payload."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from handlers.adapters import metrics
from handlers.domain.accept import Accepted
from handlers.domain.errors import InvalidBody, RequestInProgress, RequestRefused, where
from handlers.domain.webhook_proof import Unproven

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from handlers.domain.accept import Outcome
    from handlers.domain.errors import OncewardError

FUNCTION: Final = "webhooks"
_OPERATION: Final = "webhooks"


class WebhookTrace:
    """Gathers what becomes of one request, then says it once. None of its methods raises.

    Attributes:
        tenant_id, source: once they are known to exist: what a stranger asked for would be a series, or a
            line to be read, for every name that somebody makes up.
        store_ms: how long the write took; None when there was none.
        config_reads: reads of config and secrets that this request had to wait for.
    """

    def __init__(self, logger: Logger, stage: str, correlation_id: str, request_id: str) -> None:
        self.tenant_id: str | None = None
        self.source: str | None = None
        self.store_ms: float | None = None
        self.config_reads = 0
        self._logger = logger
        self._service = metrics.service_name(stage, FUNCTION)
        self._ids = {"correlation_id": correlation_id, "request_id": request_id}
        self._outcome = ""
        self._counts: dict[str, int] = {}
        self._more: dict[str, str | bool] = {}

    def succeeded(self, outcome: Outcome) -> None:
        """It took effect, now or before."""
        if isinstance(outcome, Accepted):
            self._outcome, self._counts = "accepted", {"Accepted": 1}
            self._counts |= {"Abandoned": 1} if outcome.abandoned else {}
            self._counts |= {"ResponseTooLarge": 1} if outcome.body_dropped else {}
        else:
            self._outcome, self._counts = "replayed", {"Replayed": 1}
            self._counts |= {"BodyChanged": 1} if outcome.body_changed else {}
            self._more["body_changed"] = outcome.body_changed
        if outcome.receipt.outbox is not None:
            self._more["record_id"] = outcome.receipt.outbox.record_id

    def refused(self, error: OncewardError) -> None:
        """It was answered with a problem that we foresaw."""
        if isinstance(error, Unproven):
            self._outcome, self._counts = "unauthorized", {"Unauthorized": 1}
            self._more["reason"] = error.reason
        elif isinstance(error, RequestInProgress):
            self._outcome, self._counts = "in_progress", {"InProgress": 1}
        elif isinstance(error, RequestRefused):
            self._outcome, self._counts = "rejected", {"Rejected": 1}
            if isinstance(error, InvalidBody):
                self._more["rules"] = ",".join(sorted({fault.rule for fault in error.faults}))
        else:
            self._failed(str(error))

    def broke(self, error: Exception) -> None:
        """Something happened that we did not foresee."""
        self._failed(where(error))

    def close(self, status: int, request_ms: float) -> None:
        """Say it."""
        try:
            self._log(status, request_ms)
            durations = {"RequestLatency": request_ms}
            if self.store_ms is not None:
                durations["StoreLatency"] = self.store_ms
            metrics.emit(self._service, _OPERATION, self.tenant_id, self._counts, durations)
        except Exception as error:  # noqa: BLE001 - what was accepted stays accepted, told of or not
            # Not `exception`: it would print the error's message, which can repeat what was sent.
            logging.getLogger(__name__).error("could not tell of a request: %s", where(error))  # noqa: TRY400

    def _failed(self, reason: str) -> None:
        self._outcome, self._counts = "failed", {"Failed": 1}
        self._more["reason"] = reason

    def _log(self, status: int, request_ms: float) -> None:
        log = self._logger.error if self._outcome == "failed" else self._logger.info
        log(
            self._outcome,
            extra={
                "tenant": self.tenant_id,
                "source": self.source,
                "operation": _OPERATION,
                "outcome": self._outcome,
                "status": status,
                "request_ms": round(request_ms, 1),
                "config_reads": self.config_reads,
                **self._ids,
                **self._more,
            },
        )
