"""What `webhooks` says of one request beside what others say: who proved what, and whether a body changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from handlers.adapters.request_trace import UNAUTHORIZED, RequestTrace
from handlers.domain.accept import Replayed
from handlers.domain.webhook_proof import Unproven

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from handlers.domain.accept import Outcome
    from handlers.domain.errors import OncewardError
    from handlers.http_request import HttpRequest

FUNCTION: Final = "webhooks"
_OPERATION: Final = "webhooks"


class WebhookTrace(RequestTrace):
    """See `RequestTrace`. Never an event's id: it can name a person.

    Attributes:
        tenant_id, source: once they are known to exist. What a stranger asks for would be a series, or a line
            to be read, for every name that somebody makes up.
        detailed: whether the tenant has its metrics in detail.
        config_reads: reads of config and secrets that this request had to wait for.
    """

    def __init__(self, logger: Logger, stage: str, request: HttpRequest) -> None:
        super().__init__(FUNCTION, logger, stage, request)
        self.operation = _OPERATION
        self.tenant_id: str | None = None
        self.source: str | None = None
        self.detailed = False
        self.config_reads = 0

    def succeeded(self, outcome: Outcome) -> None:
        """It took effect, now or before."""
        super().succeeded(outcome)
        if isinstance(outcome, Replayed):
            self._counts |= {"BodyChanged": 1} if outcome.body_changed else {}
            self._more["body_changed"] = "true" if outcome.body_changed else "false"

    def refused(self, error: OncewardError) -> None:
        """It was answered with a problem that we foresaw."""
        super().refused(error)
        if isinstance(error, Unproven):
            self._outcome, self._counts = UNAUTHORIZED, {"Unauthorized": 1}
            self._more["reason"] = error.reason

    @property
    def _tenant_id(self) -> str | None:
        return self.tenant_id

    @property
    def _detailed(self) -> bool:
        return self.detailed

    def _sender(self) -> dict[str, str | int | None]:
        return {"source": self.source, "config_reads": self.config_reads}
