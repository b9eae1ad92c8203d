"""What `execute` says of one request beside what others say: takeovers, lost leases, failed effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from handlers.adapters.request_trace import RequestTrace
from handlers.domain.errors import EffectFailed, EffectUnknown, LookupImpossible
from handlers.domain.execute import Executed

if TYPE_CHECKING:
    from handlers.domain.accept import Outcome
    from handlers.domain.errors import OncewardError

FUNCTION: Final = "execute"


class ExecuteTrace(RequestTrace):
    """See `RequestTrace`. `effect_ms` is not measured apart: the request's latency is nearly all of it."""

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

    def lease_lost(self) -> None:
        """It could not finish, since its claim was another attempt's by then; what is stored is answered."""
        self._counts["LeaseLost"] = 1
        self._more["lease_lost"] = "true"

    def broke(self, error: Exception) -> None:
        """Something happened that we did not foresee."""
        lost = self._lost()
        super().broke(error)
        self._counts |= lost

    def refused(self, error: OncewardError) -> None:
        """It was answered with a problem that we foresaw."""
        lost = self._lost()
        if isinstance(error, EffectFailed | EffectUnknown):
            known = isinstance(error, EffectFailed)
            self._outcome = "effect_failed" if known else "effect_unknown"
            self._counts = {"EffectFailed" if known else "EffectUnknown": 1}
            self._more["reason"] = str(error)
            self._names(error)
        else:
            super().refused(error)
        self._counts |= lost | ({"LookupImpossible": 1} if isinstance(error, LookupImpossible) else {})

    def _lost(self) -> dict[str, int]:
        return {name: count for name, count in self._counts.items() if name == "LeaseLost"}
