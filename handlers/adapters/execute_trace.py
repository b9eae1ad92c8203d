"""What `execute` says of one request beside what others say: takeovers, lost leases, failed effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from handlers.adapters.request_trace import RequestTrace
from handlers.domain.errors import EffectFailed, EffectUnknown, LookupImpossible
from handlers.domain.execute import Executed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_lambda_powertools import Logger

    from handlers.domain.accept import Outcome
    from handlers.domain.effect import Incident
    from handlers.domain.errors import OncewardError
    from handlers.http_request import HttpRequest

FUNCTION: Final = "execute"
# What a tenant's provider is at fault for: outcome and metric. None of it counts as Failed, which is ours to
# mend, and rolls releases back (infra.failure_alarms); all of it counts as `EffectTrouble`, its tenant's.
_OUTSIDE: Final[Mapping[type[OncewardError], tuple[str, str]]] = {
    EffectFailed: ("effect_failed", "EffectFailed"),
    EffectUnknown: ("effect_unknown", "EffectUnknown"),
    LookupImpossible: ("lookup_impossible", "LookupImpossible"),
}


class ExecuteTrace(RequestTrace):
    """See `RequestTrace`. The effect is not timed apart: it is what the store leaves of the latency."""

    def __init__(self, function: str, logger: Logger, stage: str, request: HttpRequest) -> None:
        """As of `RequestTrace`."""
        super().__init__(function, logger, stage, request)
        self._incidents: dict[str, int] = {}

    def succeeded(self, outcome: Outcome) -> None:
        """It took effect, now or before, or was refused for good."""
        super().succeeded(outcome)
        if not isinstance(outcome, Executed):
            return
        self._counts |= {"Takeover": 1} if outcome.taken_over else {}
        if outcome.receipt.outbox is None:
            self._outcome = "final_refusal"
            del self._counts["Accepted"]
            self._counts["FinalRefusal"] = 1

    def tell(self, incident: Incident) -> None:
        """Something happened beside the answer."""
        self._incidents[incident.value] = 1
        # `LeaseLost` -> `lease_lost`, as the log's words are spelled.
        self._more[incident.name.lower()] = "true"

    def close(self, status: int, request_ms: float) -> None:
        """Say it."""
        # A zero where it had no trouble, as of Failed: the average is the share.
        self._counts = {"EffectTrouble": 0} | self._counts | self._incidents
        super().close(status, request_ms)

    def refused(self, error: OncewardError) -> None:
        """It was answered with a problem that we foresaw."""
        outside = next((word for kind, word in _OUTSIDE.items() if isinstance(error, kind)), None)
        if outside is None:
            super().refused(error)
            return
        self._outcome, metric = outside
        self._counts = {metric: 1, "EffectTrouble": 1}
        self._more["reason"] = str(error)
        self._names(error)
