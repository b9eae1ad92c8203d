"""What is said of one request: a log line and its metrics. Never a key's value, never a payload."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from handlers.adapters import metrics
from handlers.domain import ids
from handlers.domain.accept import Accepted
from handlers.domain.errors import InvalidBody, KeyReused, RequestInProgress, RequestRefused, where

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from handlers.domain.accept import Outcome
    from handlers.domain.caller import Caller
    from handlers.domain.errors import OncewardError
    from handlers.http_request import HttpRequest

# The dimension where no operation was found: the path that was asked for would be a series for every typo.
_NO_OPERATION: Final = "none"
# Whoever did not prove who it is: no request of the tenant's, and no part of its share of failures.
UNAUTHORIZED: Final = "unauthorized"


class RequestTrace:
    """Gathers what becomes of one request, then says it once. None of its methods raises.

    Attributes:
        operation: its name, once it is known.
        caller: once it is known.
        attempt: the owner's word of the claim that this request makes, once there is one.
        store_ms: how long the store took; None when it was not asked.
    """

    def __init__(self, function: str, logger: Logger, stage: str, request: HttpRequest) -> None:
        """`function`: whose request it is, such as `ingest`."""
        self.operation = _NO_OPERATION
        self.caller: Caller | None = None
        self.attempt: str | None = None
        self.store_ms: float | None = None
        self._logger = logger
        self._stage, self._function = stage, function
        self._ids = {"correlation_id": request.correlation_id, "request_id": request.request_id}
        self._outcome = ""
        self._counts: dict[str, int] = {}
        self._more: dict[str, str] = {}

    def succeeded(self, outcome: Outcome) -> None:
        """It took effect, now or before."""
        first = isinstance(outcome, Accepted)
        self._outcome = "accepted" if first else "replayed"
        self._counts["Accepted" if first else "Replayed"] = 1
        if isinstance(outcome, Accepted):
            self._counts |= {"Abandoned": 1} if outcome.abandoned else {}
            self._counts |= {"ResponseTooLarge": 1} if outcome.body_dropped else {}
        # A final refusal too: a declined charge has no record, and its duplicates are found by this id.
        self._more["record_id"] = ids.record_id_of(outcome.receipt)

    def refused(self, error: OncewardError) -> None:
        """It was answered with a problem that we foresaw."""
        self._names(error)
        if isinstance(error, KeyReused):
            self._outcome, self._counts = "mismatch", {"Mismatch": 1}
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
            about = metrics.About(
                self._stage, self._function, self.operation, self._tenant_id, self._detailed
            )
            # A zero where nothing failed, so that the average is the share of failures.
            answered = {} if self._outcome == UNAUTHORIZED else {"Failed": 0}
            metrics.emit(about, answered | self._counts, durations)
        except Exception as error:  # noqa: BLE001 - what was accepted stays accepted, told of or not
            # Not `exception`: it would print the error's message, which can repeat what was sent.
            logging.getLogger(__name__).error("could not tell of a request: %s", where(error))  # noqa: TRY400

    @property
    def _tenant_id(self) -> str | None:
        return self.caller.tenant_id if self.caller else None

    @property
    def _detailed(self) -> bool:
        """Whether the tenant has its metrics in detail."""
        return self.caller is not None and self.caller.detailed_metrics

    def _sender(self) -> dict[str, str | int | None]:
        """What the log line says of who sent the request."""
        return {"key_name": self.caller.key_name if self.caller else None}

    def _names(self, error: OncewardError) -> None:
        # Of the request that holds the key: how `onceward receipts explain` finds this one.
        self._more |= {} if error.record_id is None else {"record_id": error.record_id}

    def _failed(self, reason: str) -> None:
        self._outcome, self._counts = "failed", {"Failed": 1}
        self._more["reason"] = reason

    def _log(self, status: int, request_ms: float) -> None:
        log = self._logger.error if self._outcome == "failed" else self._logger.info
        log(
            self._outcome,
            extra={
                "tenant": self._tenant_id,
                **self._sender(),
                "operation": self.operation,
                "outcome": self._outcome,
                "status": status,
                "request_ms": round(request_ms, 1),
                "attempt": self.attempt,
                **self._ids,
                **self._more,
            },
        )
