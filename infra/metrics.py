"""The metrics that alarms and dashboards read, each spelt once: namespace, name, dimensions, statistic.

A widget or alarm whose namespace or dimension differs by a letter from what is emitted stays blank for
ever, so nothing else in the program spells them.
"""

from dataclasses import dataclass
from typing import Final

from infra.naming import Names

ONCEWARD: Final = "Onceward"
"""Namespace of the functions' own metrics (EMF, through their logs)."""


TAKERS: Final = ("ingest", "execute", "webhooks")
"""The functions that take requests in."""


@dataclass(frozen=True)
class Metric:
    """One CloudWatch metric; `statistic` is Sum, Maximum, Average or a percentile such as p99."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]
    statistic: str


def onceward(names: Names, function: str, name: str, statistic: str = "Sum") -> Metric:
    """A metric of our own, for all tenants of a stage together.

    `Service` is the function's name on AWS, stage included: two stages of an account share the namespace.
    """
    return Metric(ONCEWARD, name, (("Service", names.platform(function)),), statistic)


def of_tenant(names: Names, tenant_id: str, function: str, name: str, statistic: str = "Sum") -> Metric:
    """A metric of our own for one tenant (the `TAKERS` emit Accepted, Replayed and Failed this way)."""
    dimensions = (("Service", names.platform(function)), ("TenantId", tenant_id))
    return Metric(ONCEWARD, name, dimensions, statistic)


def function(names: Names, function: str, name: str, statistic: str = "Sum") -> Metric:
    """A metric that Lambda emits for a function: Errors, Throttles, IteratorAge (ms), Duration (ms), and
    DestinationDeliveryFailures (batches of a stream that did not reach the failure bucket)."""
    return Metric("AWS/Lambda", name, (("FunctionName", names.platform(function)),), statistic)


def queue(names: Names, queue: str, name: str) -> Metric:
    """A metric that SQS emits for a platform queue."""
    return Metric("AWS/SQS", name, (("QueueName", names.platform(queue)),), "Maximum")


def rule(names: Names, rule: str, name: str, *, bus: str | None = None) -> Metric:
    """A metric that EventBridge emits for a rule: FailedInvocations, InvocationsSentToDlq and the like.

    Of a rule on a bus of our own, the bus is a dimension; of one on the default bus it is not (EventBridge's
    user guide, "Monitoring Amazon EventBridge").
    """
    of_bus = () if bus is None else (("EventBusName", names.platform(bus)),)
    return Metric("AWS/Events", name, (*of_bus, ("RuleName", names.platform(rule))), "Sum")


def table(names: Names, table: str, name: str) -> Metric:
    """A metric that DynamoDB emits for a table: ReadThrottleEvents, ConsumedWriteCapacityUnits and so on."""
    return Metric("AWS/DynamoDB", name, (("TableName", names.platform(table)),), "Sum")


def log_group(log_group: str, name: str) -> Metric:
    """A metric that CloudWatch Logs emits for a log group: IncomingBytes."""
    return Metric("AWS/Logs", name, (("LogGroupName", log_group),), "Sum")


def api(names: Names, name: str, statistic: str = "Sum") -> Metric:
    """A metric that API Gateway emits for the REST stage: Count, 4XXError, 5XXError, Latency (ms)."""
    dimensions = (("ApiName", names.platform("api")), ("Stage", names.stage))
    return Metric("AWS/ApiGateway", name, dimensions, statistic)


def tenant_topic(names: Names, tenant_id: str, name: str) -> Metric:
    """A metric that SNS emits for a tenant's topic."""
    return Metric("AWS/SNS", name, (("TopicName", names.tenant(tenant_id)),), "Sum")
