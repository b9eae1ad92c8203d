"""The alarms on tenants: a handful of queries over all of them, and those of a tenant with its own.

The number of the queries does not depend on the tenants (docs/adr/0123). They ring for what nobody would call
normal of any tenant; a tenant with a dashboard of its own has its own alarms too, with its file's thresholds.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from infra import metrics
from infra.alarm import MINUTE, Alarm, QueryAlarm, Share
from infra.expressions import Function, Select
from infra.metrics import ONCEWARD, Metric
from infra.naming import Names
from tenants.models import Tenant

ANSWERERS: Final = (*metrics.TAKERS, "read")
"""The functions that answer a tenant's requests: each emits `Failed` for it, 1, or 0 where all is well."""
API: Final = "api"
"""Stands for a function where the access log counts: what it throttles reaches no function."""
STUCK: Final = {
    "dispatch": "DispatchParked",
    "notify": "TopicRefused",
    "deliver": "WorkGivenUp",
    "fulfil": "WorkGivenUp",
    "reconcile": "WorkGivenUp",
}
"""What each of them counts when it cannot go on with a tenant's event or work."""
HELD_UP: Final = (*STUCK.items(), ("dispatch", "StillParked"))
"""The same, and what is tried again in vain: for a sum, where it may be a second time that one is counted."""

# Of all tenants alike, so for what is no tenant's normal: a quarter of its requests fails, or half is
# refused. In two of three windows: one request that fails in a quiet hour is a share of 100%, and its retry
# mends it.
_FAILING_SHARE: Final = 0.25
_THROTTLED_SHARE: Final = 0.5
_SHARE_PERIODS: Final = 2
_SHARE_OUT_OF: Final = 3

TOGETHER: Final = "alarm"
"""The composite over a tenant's own alarms, which pages for them."""
FAILED_REQUESTS: Final = "tenant-failed-requests"
PROVIDER_TROUBLE: Final = "tenant-provider-trouble"
THROTTLED_REQUESTS: Final = "tenant-throttled-requests"
STUCK_WORK: Final = "tenant-stuck-work"
FAILED_DELIVERIES: Final = "tenant-failed-deliveries"
"""Sections of the runbook: one for a query and a tenant's own alarm alike."""


def own_alarms(tenant: Tenant, names: Names) -> tuple[Alarm, ...]:
    """A tenant's own alarms, with its file's thresholds: of `dashboard: dedicated`, unless turned off."""
    wanted = tenant.alarms
    if not wanted.enabled or tenant.dashboard != "dedicated":
        return ()
    failed = tuple(metrics.of_tenant(names, tenant.id, each, "Failed") for each in ANSWERERS)
    trouble = metrics.of_tenant(names, tenant.id, "execute", "EffectTrouble")
    throttled = metrics.of_tenant(names, tenant.id, API, "Throttled")
    stuck = [metrics.of_tenant(names, tenant.id, each, name) for each, name in HELD_UP]
    return (
        Alarm(
            "failed-requests",
            f"What tenant {tenant.id} sends is answered with 5xx.",
            failed[0],
            wanted.failed_requests.threshold,
            wanted.failed_requests.minutes * MINUTE,
            plus=failed[1:],
            share=Share(_counted(failed), wanted.failed_requests.share_percent),
            runbook=FAILED_REQUESTS,
        ),
        # To its callers a 5xx like any other, so as many of them are bad.
        Alarm(
            "provider-trouble",
            f"What tenant {tenant.id} sends is answered with 5xx for its provider.",
            trouble,
            wanted.failed_requests.threshold,
            wanted.failed_requests.minutes * MINUTE,
            share=Share(_counted((trouble,)), wanted.failed_requests.share_percent),
            runbook=PROVIDER_TROUBLE,
        ),
        Alarm(
            "throttled-requests",
            f"Tenant {tenant.id} sends more than its tier lets through: callers get 429.",
            throttled,
            wanted.throttled_requests.threshold,
            wanted.throttled_requests.minutes * MINUTE,
            share=Share(_counted((throttled,)), wanted.throttled_requests.share_percent),
            runbook=THROTTLED_REQUESTS,
        ),
        Alarm(
            "failed-deliveries",
            f"Events of tenant {tenant.id} do not reach a subscriber: what is given up is in delivery-dlq.",
            metrics.tenant_topic(names, tenant.id, "NumberOfNotificationsFailed"),
            wanted.failed_deliveries.threshold,
            wanted.failed_deliveries.minutes * MINUTE,
            runbook=FAILED_DELIVERIES,
        ),
        Alarm(
            "stuck-work",
            f"Events of tenant {tenant.id} are held up, or its work was given up: `onceward dlq list`.",
            stuck[0],
            wanted.stuck_work.threshold,
            wanted.stuck_work.minutes * MINUTE,
            plus=tuple(stuck[1:]),
            runbook=STUCK_WORK,
        ),
    )


def tenant_rules(
    names: Names, silenced: Iterable[str] = (), *, all_topics: bool = True
) -> tuple[QueryAlarm, ...]:
    """The queries over all tenants but the `silenced` (those whose files turn their alarms off).

    One for each function, not for each rule: a query knows `=`, `!=` and AND, so that it keeps to a stage by
    one value of `Service` (CloudWatch's guide, Metrics Insights, "Supported operators"). `all_topics` adds
    the one on SNS, whose metrics have no stage at all.
    """
    quiet = tuple(silenced)
    return (
        *(_failing(names, function, quiet) for function in ANSWERERS),
        QueryAlarm(
            "tenants-provider-trouble",
            "A quarter of a tenant's payments and appointments is answered with 5xx for its provider.",
            _of_service(names, "execute", "AVG", "EffectTrouble", quiet),
            _FAILING_SHARE,
            PROVIDER_TROUBLE,
            periods=_SHARE_PERIODS,
            out_of=_SHARE_OUT_OF,
        ),
        QueryAlarm(
            "tenants-throttled",
            "Half of what a tenant sends is over its tier's limits: its callers get 429.",
            _of_service(names, API, "AVG", "Throttled", quiet),
            _THROTTLED_SHARE,
            THROTTLED_REQUESTS,
            periods=_SHARE_PERIODS,
            out_of=_SHARE_OUT_OF,
        ),
        *(_stuck(names, function, name, quiet) for function, name in STUCK.items()),
        *((_deliveries(names, quiet),) if all_topics else ()),
    )


def _failing(names: Names, function: str, quiet: tuple[str, ...]) -> QueryAlarm:
    return QueryAlarm(
        f"tenants-failing-{function}",
        f"A quarter of what a tenant sends to {function} is answered with 5xx.",
        # An average of ones and zeros is a share.
        _of_service(names, function, "AVG", "Failed", quiet),
        _FAILING_SHARE,
        FAILED_REQUESTS,
        periods=_SHARE_PERIODS,
        out_of=_SHARE_OUT_OF,
    )


def _stuck(names: Names, function: str, name: str, quiet: tuple[str, ...]) -> QueryAlarm:
    return QueryAlarm(
        f"tenants-stuck-{function}",
        f"A tenant's events or work are stuck in {function}: held up, or given up (`onceward dlq list`).",
        _of_service(names, function, "SUM", name, quiet),
        1,
        STUCK_WORK,
    )


def _deliveries(names: Names, quiet: tuple[str, ...]) -> QueryAlarm:
    # What the platform tells people by is no tenant's.
    topics = [names.platform("alarms"), *(names.tenant(tenant) for tenant in quiet)]
    failed = Select(
        "SUM",
        "NumberOfNotificationsFailed",
        "AWS/SNS",
        ("TopicName",),
        where=(),
        group_by="TopicName",
        unless=tuple(("TopicName", topic) for topic in topics),
    )
    return QueryAlarm(
        "tenants-deliveries",
        "Events do not reach a subscriber of a topic: what is given up is in delivery-dlq.",
        failed.expression,
        1,
        FAILED_DELIVERIES,
    )


def _of_service(names: Names, function: str, take: Function, name: str, quiet: tuple[str, ...]) -> str:
    # A line for each tenant, the worst first: of more than a query returns, the worst are looked at.
    return Select(
        take,
        name,
        ONCEWARD,
        ("Service", "TenantId"),
        where=(("Service", names.platform(function)),),
        group_by="TenantId",
        unless=tuple(("TenantId", tenant) for tenant in quiet),
    ).expression


def _counted(summed: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """How often each was emitted: of ones and zeros, how many requests there were."""
    return tuple(replace(metric, statistic="SampleCount") for metric in summed)
