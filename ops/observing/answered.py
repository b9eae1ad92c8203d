"""Requests as the gateway's access log would tell of them, from where they can be seen on the local AWS.

The local gateway writes no access log and no metrics. Answers that a function made are in its log; a denial
is in the authorizer's (the first one: the gateway caches it); a 429 only the client sees. A request without a
key (401) reaches no function: it is seen by nobody here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.metric_catalogue import API
from infra import access_log, metrics
from ops.observing.naming import of_metric
from ops.observing.series import Point, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from infra.naming import Names
    from ops.observing.invocations import Invocation

ORIGIN: Final = (
    "observed here from the functions' log lines, the authorizer's denials and the storm's own record of "
    "429s; the latency is the function's, without the gateway's own"
)
NOBODY: Final = "-"
"""What the gateway writes where it knows no tenant."""
# What the authorizer says of a key that it lets nowhere, and the gateway's word for it.
_DENIED: Final = {"unknown_key": "ACCESS_DENIED", "suspended": "ACCESS_DENIED"}
_FORBIDDEN, _CLIENT_ERROR, _SERVER_ERROR = 403, 400, 500


@dataclass(frozen=True, slots=True)
class Answered:
    """One request.

    Attributes:
        latency_ms: None where nobody knows it.
        refusal: the gateway's reason, if it answered by itself, such as THROTTLED.
    """

    at_ms: int
    status: int
    tenant: str
    latency_ms: float | None
    request_id: str = NOBODY
    refusal: str = NOBODY

    def document(self, names: Names) -> dict[str, str]:
        """The line of the access log, with what is known of it; a dash stands for the rest, as on AWS."""
        known = {
            "service": names.platform(API),
            "requestId": self.request_id,
            "tenant": self.tenant,
            "time": str(self.at_ms),
            "status": str(self.status),
            "gatewayError": self.refusal,
        }
        if self.latency_ms is not None:
            known["latencyMs"] = f"{self.latency_ms:.0f}"
        return dict.fromkeys(access_log.line(names), NOBODY) | known


def in_line(invocation: Invocation, content: Mapping[str, Any]) -> Answered | None:
    """The request that a function's log line is about; None of a line that tells of none."""
    at_ms = invocation.started_ms
    status, latency_ms = content.get("status"), content.get("request_ms")
    if isinstance(status, int) and isinstance(latency_ms, int | float):
        # Webhooks have no authorizer, so that the gateway knows no tenant of theirs.
        tenant = NOBODY if invocation.function == "webhooks" else content.get("tenant") or NOBODY
        return Answered(at_ms, status, tenant, float(latency_ms), content.get("request_id") or NOBODY)
    outcome = content.get("outcome")
    if invocation.function == "authorizer" and outcome in _DENIED:
        # A denial has no context: `$context.authorizer.tenantId` stays empty, whoever's key it was.
        return Answered(at_ms, _FORBIDDEN, NOBODY, None, refusal=_DENIED[outcome])
    return None


def points(answered: Answered, names: Names) -> Iterator[Point]:
    """What API Gateway counts and times of it."""
    client = _CLIENT_ERROR <= answered.status < _SERVER_ERROR
    counts = {"Count": 1, "4XXError": int(client), "5XXError": int(answered.status >= _SERVER_ERROR)}
    for name, value in counts.items():
        yield Point(of_metric(metrics.api(names, name)), Unit.COUNT, answered.at_ms, value, origin=ORIGIN)
    if answered.latency_ms is not None:
        for name in ("Latency", "IntegrationLatency"):
            series = of_metric(metrics.api(names, name))
            yield Point(series, Unit.MILLISECONDS, answered.at_ms, answered.latency_ms, origin=ORIGIN)
