"""Every alarm as data: what is watched, from when on it is bad, and what a person should think of it."""

from typing import Final

from infra import metrics
from infra.alarm import MINUTE, Alarm, QueryAlarm
from infra.failure_alarms import failure_alarms
from infra.metrics import Metric
from infra.naming import Names
from infra.overall_alarms import overall_alarms
from infra.tenant_alarms import tenant_rules
from infra.timeouts import TIMEOUTS
from infra.work_alarms import work_alarms

FUNCTIONS: Final = tuple(sorted(TIMEOUTS))
TABLES: Final = ("receipts", "records", "slots", "tenants")
# A request with two API keys makes the authorizer raise (the only way to a 401), and anybody can send one. So
# its own metric rings at once (`authorizer-failed`), time-outs ring as 5xx of the API, and Lambda's count of
# errors only for a quarter of an hour of something that nobody does by mistake.
_ERRORS_OF_ANYBODY: Final = 500


DISPATCH_GIVEN_UP: Final = Alarm(
    "dispatch-given-up",
    "Stream records went to the failure bucket: their receipts are not dispatched. "
    "When the cause is gone, run `onceward dispatch replay --from-failures`.",
    Metric("AWS/Lambda", "OnFailureDestinationDeliveredEventCount", (), "Sum"),
    1,
)
"""Its dimension is the mapping's UUID, which only AWS knows (see `infra.components.dispatch_feed`)."""


def platform_alarms(names: Names) -> tuple[Alarm, ...]:
    """The platform's alarms; their number does not depend on the tenants."""
    return (
        *_queues(names),
        *_dispatch(names),
        *work_alarms(names),
        *(alarm for name in FUNCTIONS for alarm in _function(names, name)),
        *failure_alarms(names),
        *_api(names),
        *(alarm for name in TABLES for alarm in _table(names, name)),
        *overall_alarms(names),
    )


def every_alarm(names: Names) -> tuple[Alarm | QueryAlarm, ...]:
    """All alarms of a stage but the tenants' own: the platform's, and the queries over all tenants."""
    return (*platform_alarms(names), DISPATCH_GIVEN_UP, *tenant_rules(names))


def _queues(names: Names) -> tuple[Alarm, ...]:
    depth = "ApproximateNumberOfMessagesVisible"
    return (
        Alarm(
            "dispatch-dlq-depth",
            "Receipts could not be dispatched after all retries. Fix the cause, then redrive the queue.",
            metrics.queue(names, "dispatch-dlq", depth),
            1,
            MINUTE,
        ),
        # SNS counts failures per topic only; every tenant subscription ends here, so this is their sum.
        Alarm(
            "delivery-dlq-depth",
            "Events did not reach a subscriber. A message's body names the topic, its attributes the error.",
            metrics.queue(names, "delivery-dlq", depth),
            1,
            MINUTE,
        ),
        # A parked receipt is hidden between its attempts, for up to two hours: the depth alone is mostly 0.
        # Ten minutes, as long as `dispatch-parked` rings of the first: whatever tells for both tells once.
        Alarm(
            "dispatch-retry-depth",
            "Receipts have waited on the retry queue for ten minutes: what they were parked for is still so.",
            metrics.queue(names, "dispatch-retry", depth),
            1,
            MINUTE,
            periods=10,
            plus=(metrics.queue(names, "dispatch-retry", "ApproximateNumberOfMessagesNotVisible"),),
        ),
        # Not for a receipt that fails again and again: SQS leaves a message that was received more than three
        # times out of this metric (`dispatch-parked` and the depths of its two queues ring for it).
        Alarm(
            "dispatch-retry-age",
            "Nothing takes receipts off the retry queue: its mapping is off, or dispatch is throttled.",
            metrics.queue(names, "dispatch-retry", "ApproximateAgeOfOldestMessage"),
            15 * MINUTE,
            MINUTE,
        ),
    )


def _dispatch(names: Names) -> tuple[Alarm, ...]:
    return (
        Alarm(
            "stream-iterator-age",
            "Dispatch is a minute behind the receipts: records and events are late.",
            metrics.function(names, "dispatch", "IteratorAge", "Maximum"),
            60_000,
            MINUTE,
            # Three minutes in a row: one slow batch after a quiet hour is no backlog.
            periods=3,
        ),
        Alarm(
            "dispatch-conflict",
            "A record exists with another event id. This should be impossible: look before redriving.",
            metrics.onceward(names, "dispatch", "DispatchConflict"),
            1,
        ),
        Alarm(
            "dispatch-parked",
            "A receipt waits on the retry queue: a tenant's topic or data is at fault. The log says which.",
            metrics.onceward(names, "dispatch", "DispatchParked"),
            1,
        ),
        Alarm(
            "dispatch-failures-lost",
            "A batch that the stream gave up did not reach the failure bucket either: its receipts are not "
            "dispatched. Mend the bucket's policy, then run `onceward dispatch replay --since --republish`.",
            metrics.function(names, "dispatch", "DestinationDeliveryFailures"),
            1,
        ),
    )


def _function(names: Names, name: str) -> tuple[Alarm, ...]:
    return (
        Alarm(
            f"{name}-errors",
            f"Function {name} raised or timed out.",
            metrics.function(names, name, "Errors"),
            _ERRORS_OF_ANYBODY if name == "authorizer" else 1,
            periods=3 if name == "authorizer" else 1,
            runbook="function-errors",
        ),
        Alarm(
            f"{name}-throttles",
            f"Function {name} was refused concurrency.",
            metrics.function(names, name, "Throttles"),
            1,
            runbook="function-throttles",
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
            runbook="api-trouble",
        ),
        Alarm(
            "api-latency",
            "One request in twenty has taken over two seconds for a quarter of an hour.",
            # p95, evaluated whatever the traffic: CloudWatch wants 10/(1-p) samples for a percentile, a
            # thousand for p99, and would leave the alarm of a quiet API in whatever state it is.
            metrics.api(names, "Latency", "p95"),
            2_000,
            periods=3,
            runbook="api-trouble",
        ),
    )


def _table(names: Names, name: str) -> tuple[Alarm, ...]:
    return tuple(
        Alarm(
            f"{name}-{kind.lower()}-throttles",
            f"Table {name} refuses {kind.lower()}s: callers get 503.",
            metrics.table(names, name, f"{kind}ThrottleEvents"),
            1,
            runbook="table-throttles",
        )
        for kind in ("Read", "Write")
    )
