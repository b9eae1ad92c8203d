"""Every alarm as data: what is watched, from when on it is bad, and what a person should think of it."""

from dataclasses import dataclass
from typing import Final

from infra import metrics
from infra.metrics import Metric
from infra.naming import Names
from tenants.models import Tenant

FUNCTIONS: Final = ("authorizer", "dispatch", "ingest", "read")
TABLES: Final = ("receipts", "records", "tenants")
QUEUES: Final = ("dispatch-retry", "dispatch-dlq", "delivery-dlq")
_MINUTE: Final = 60
# Counts are looked at over five minutes: shorter and a deployment's blip rings, longer and people wait.
_WINDOW: Final = 5 * _MINUTE


@dataclass(frozen=True)
class Alarm:
    """Rings when `metric` is at least `threshold` in `periods` periods of `period_seconds` in a row.

    A missing data point is "not breaching": all these metrics count or time something that happens, and
    where nothing happens nothing is wrong.
    """

    name: str
    description: str
    metric: Metric
    threshold: float
    period_seconds: int = _WINDOW
    periods: int = 1


DISPATCH_GIVEN_UP: Final = Alarm(
    "dispatch-given-up",
    "Stream records went to the failure bucket: their receipts are not dispatched. Run `dispatch replay`.",
    Metric("AWS/Lambda", "OnFailureDestinationDeliveredEventCount", (), "Sum"),
    1,
)
"""Its dimension is the mapping's UUID, which only AWS knows (see `infra.components.dispatch_feed`)."""


def platform_alarms(names: Names) -> tuple[Alarm, ...]:
    """The platform's alarms; their number does not depend on the tenants."""
    return (
        *_queues(names),
        *_dispatch(names),
        *(alarm for name in FUNCTIONS for alarm in _function(names, name)),
        *_api(names),
        *(alarm for name in TABLES for alarm in _table(names, name)),
    )


def tenant_alarms(tenant: Tenant, names: Names) -> tuple[Alarm, ...]:
    """A tenant's alarms with the thresholds of its file; none where the file turns them off."""
    wanted = tenant.alarms
    if not wanted.enabled:
        return ()
    return (
        Alarm(
            "failed-requests",
            f"Requests of tenant {tenant.id} are answered with 5xx.",
            metrics.of_tenant(tenant.id, "Failed"),
            wanted.failed_requests.threshold,
            wanted.failed_requests.minutes * _MINUTE,
        ),
        Alarm(
            "failed-deliveries",
            f"Events of tenant {tenant.id} did not reach a subscriber; they wait in the delivery DLQ.",
            metrics.tenant_topic(names, tenant.id, "NumberOfNotificationsFailed"),
            wanted.failed_deliveries.threshold,
            wanted.failed_deliveries.minutes * _MINUTE,
        ),
    )


def _queues(names: Names) -> tuple[Alarm, ...]:
    depth = "ApproximateNumberOfMessagesVisible"
    return (
        Alarm(
            "dispatch-dlq-depth",
            "Receipts could not be dispatched after all retries. Fix the cause, then redrive the queue.",
            metrics.queue(names, "dispatch-dlq", depth),
            1,
            _MINUTE,
        ),
        # SNS counts failures per topic only; every tenant subscription ends here, so this is their sum.
        Alarm(
            "delivery-dlq-depth",
            "Events did not reach a tenant's subscriber. The message's attributes name the topic.",
            metrics.queue(names, "delivery-dlq", depth),
            1,
            _MINUTE,
        ),
        Alarm(
            "dispatch-retry-age",
            "A parked receipt has waited for 15 minutes: a tenant's topic or data is at fault.",
            metrics.queue(names, "dispatch-retry", "ApproximateAgeOfOldestMessage"),
            15 * _MINUTE,
            _MINUTE,
        ),
    )


def _dispatch(names: Names) -> tuple[Alarm, ...]:
    return (
        Alarm(
            "stream-iterator-age",
            "Dispatch is a minute behind the receipts: records and events are late.",
            metrics.function(names, "dispatch", "IteratorAge", "Maximum"),
            60_000,
            _MINUTE,
            # Three minutes in a row: one slow batch after a quiet hour is no backlog.
            periods=3,
        ),
        Alarm(
            "dispatch-conflict",
            "A record exists with another event id. This should be impossible: look before redriving.",
            metrics.onceward("dispatch", "DispatchConflict"),
            1,
        ),
    )


def _function(names: Names, name: str) -> tuple[Alarm, ...]:
    return (
        Alarm(
            f"{name}-errors",
            f"Function {name} raised or timed out.",
            metrics.function(names, name, "Errors"),
            1,
        ),
        Alarm(
            f"{name}-throttles",
            f"Function {name} was refused concurrency.",
            metrics.function(names, name, "Throttles"),
            1,
        ),
    )


def _api(names: Names) -> tuple[Alarm, ...]:
    return (
        Alarm(
            "api-5xx",
            "The API answers with 5xx.",
            metrics.api(names, "5XXError"),
            # One may be a cold start that timed out; clients retry it. Five are a fault.
            5,
        ),
        Alarm(
            "api-latency",
            "One request in a hundred takes over two seconds.",
            metrics.api(names, "Latency", "p99"),
            2_000,
            periods=3,
        ),
    )


def _table(names: Names, name: str) -> tuple[Alarm, ...]:
    return tuple(
        Alarm(
            f"{name}-{kind.lower()}-throttles",
            f"Table {name} refuses {kind.lower()}s: callers get 503.",
            metrics.table(names, name, f"{kind}ThrottleEvents"),
            1,
        )
        for kind in ("Read", "Write")
    )
