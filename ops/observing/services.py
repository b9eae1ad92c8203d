"""What Lambda, SNS, EventBridge and Logs would count of an invocation, as far as its log tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from infra import metrics
from infra.naming import NOTIFY_RULE
from ops.observing.naming import of_metric
from ops.observing.series import Point, SeriesName, Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from infra.naming import Names
    from ops.observing.invocations import Invocation

OF_LAMBDA: Final = "observed here from the START and REPORT lines of the local AWS's own log"
OF_ITERATOR: Final = "observed here from dispatch's own lag: the age of the oldest record of each batch"
OF_SNS: Final = "observed here from what dispatch and notify say they published, times the subscriptions"
OF_EVENTS: Final = "observed here from the invocations of the rule's target"
OF_LOGS: Final = "observed here from the lines of the local AWS's log"
# "26 bytes for each log event" are charged beside its text (CloudWatch Logs' guide, quotas of PutLogEvents).
_EVENT_BYTES: Final = 26
# Orders go to the event bus instead, and notify publishes them.
_TO_THE_BUS: Final = "orders"


def of_invocation(invocation: Invocation, names: Names) -> Iterator[Point]:
    """What is counted of each invocation, whatever it did."""
    at_ms, function = invocation.started_ms, invocation.function
    counts = {"Invocations": 1, "Errors": int(invocation.failed), "Throttles": 0}
    for name, value in counts.items():
        series = of_metric(metrics.function(names, function, name))
        yield Point(series, Unit.COUNT, at_ms, value, origin=OF_LAMBDA)
    duration = of_metric(metrics.function(names, function, "Duration"))
    yield Point(duration, Unit.MILLISECONDS, at_ms, invocation.duration_ms, origin=OF_LAMBDA)
    if function in _RULES:
        rule = of_metric(_RULES[function](names))
        yield Point(rule, Unit.COUNT, at_ms, 1, origin=OF_EVENTS)
    said = sum(len(line.encode()) + _EVENT_BYTES for line in invocation.lines)
    ingested = SeriesName.of("AWS/Logs", "IncomingBytes", {"LogGroupName": invocation.group})
    yield Point(ingested, Unit.BYTES, at_ms, said, origin=OF_LOGS)


_RULES: Final[Mapping[str, Callable[[Names], metrics.Metric]]] = {
    "notify": lambda names: metrics.rule(names, NOTIFY_RULE, "Invocations", bus="orders"),
    "reconcile": lambda names: metrics.rule(names, "reconcile", "Invocations"),
}


def of_dispatch(
    invocation: Invocation, contents: Sequence[Mapping[str, Any]], names: Names
) -> Iterator[Point]:
    """How far dispatch is behind the stream: the lag of the oldest record of the batch."""
    lags = [content["lag_ms"] for content in contents if isinstance(content.get("lag_ms"), int | float)]
    if invocation.function == "dispatch" and lags:
        series = of_metric(metrics.function(names, "dispatch", "IteratorAge"))
        yield Point(series, Unit.MILLISECONDS, invocation.started_ms, max(lags), origin=OF_ITERATOR)


def of_published(
    invocation: Invocation,
    content: Mapping[str, Any],
    names: Names,
    subscriptions: Callable[[str], int],
) -> Iterator[Point]:
    """What SNS counts where a line says that an event was published.

    `subscriptions`: how many a tenant's topic has. Each counts as delivered to: the local AWS delivers within
    itself, and puts nothing on a dead-letter queue of a subscription's.
    """
    tenant = content.get("tenant")
    if not isinstance(tenant, str) or not _published(invocation.function, content):
        return
    published = of_metric(metrics.tenant_topic(names, tenant, "NumberOfMessagesPublished"))
    yield Point(published, Unit.COUNT, invocation.started_ms, 1, origin=OF_SNS)
    delivered = of_metric(metrics.tenant_topic(names, tenant, "NumberOfNotificationsDelivered"))
    yield Point(delivered, Unit.COUNT, invocation.started_ms, subscriptions(tenant), origin=OF_SNS)


def _published(function: str, content: Mapping[str, Any]) -> bool:
    outcome = content.get("outcome")
    if function == "notify":
        return outcome == "notified"
    dispatched = outcome in {"dispatched", "republished"}
    return function == "dispatch" and dispatched and content.get("operation") != _TO_THE_BUS
