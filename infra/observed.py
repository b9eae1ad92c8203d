"""How much observability a stage has, counted from the very data that its metrics, alarms and dashboards are
made of (tests/infra/test_observability.py compares it with what is registered and emitted)."""

from collections.abc import Iterable, Mapping
from typing import Final

from handlers.domain import metric_catalogue as catalogue
from infra import prices
from infra.alarm import Alarm, QueryAlarm
from infra.alarms import every_alarm
from infra.composites import platform_down, troubles
from infra.naming import Names
from infra.observability import Observability
from infra.routes import ROUTES
from infra.tenant_alarms import own_alarms, tenant_rules
from tenants.models import Tenant

OPERATIONS: Final[Mapping[str, int]] = {
    "authorizer": 1,
    "ingest": 2,
    "execute": 2,
    "webhooks": 1,
    # Each operation's records, and receipts.
    "read": 6,
    "dispatch": 5,
    "deliver": 1,
    "fulfil": 1,
    "notify": 1,
    "reconcile": 2,
}
"""By function: how many values of `Operation` it emits while all goes well (`none` and `unknown` come of
requests in which no operation can be found)."""
# The platform's, and the one of any tenant.
_DASHBOARDS: Final = 2
# What API Gateway keeps for a method with `metricsEnabled` and no cache: calls, 4xx, 5xx, two latencies.
_OF_A_METHOD: Final = 5


def of_platform(names: Names) -> Observability:
    """What is there without a tenant."""
    alarms = [alarm for alarm in every_alarm(names) if isinstance(alarm, Alarm)]
    functions = catalogue.BY_FUNCTION.items()
    return Observability(
        series=sum(len(emitted) * (1 + OPERATIONS[function]) for function, emitted in functions)
        + sum(catalogue.OF_SERVICE in each.dimensions for each in catalogue.ACCESS_LOG),
        # Of what answers mistakes and preflights (the mocks) too, while it does: left out.
        method_metrics=_OF_A_METHOD * len(ROUTES),
        dashboards=_DASHBOARDS,
        alarm_metrics=sum(map(watched, alarms)),
        composites=len((platform_down(), *troubles())),
    )


def of_tenant(tenant: Tenant, names: Names, *, all_topics: bool = False) -> Observability:
    """What a tenant adds; `all_topics` as in `tenant_rules`."""
    own = own_alarms(tenant, names)
    rules = tenant_rules(names, all_topics=all_topics) if tenant.alarms.enabled else ()
    return Observability(
        series=_of_every_tenant() + (_in_detail() if tenant.metrics == "detailed" else 0),
        dashboards=int(tenant.dashboard == "dedicated"),
        alarm_metrics=sum(map(watched, own)),
        # Each query finds one metric of each tenant.
        analysed=len(rules),
        composites=int(bool(own)),
    )


def of_stage(names: Names, tenants: Iterable[Tenant], *, all_topics: bool = False) -> Observability:
    """What a stage with these tenants has."""
    theirs = (of_tenant(tenant, names, all_topics=all_topics) for tenant in tenants)
    return sum(theirs, of_platform(names))


def watched(alarm: Alarm | QueryAlarm) -> int:
    """The metrics that an alarm names; a query names none."""
    if isinstance(alarm, QueryAlarm):
        return 0
    return 1 + len(alarm.plus) + len(alarm.minus) + (len(alarm.share.of) if alarm.share else 0)


def told(names: Names, tenants: Iterable[Tenant], *, all_topics: bool = False) -> str:
    """One line: what the chosen observability costs a month."""
    there = tuple(tenants)
    all_of_it = of_stage(names, there, all_topics=all_topics)
    own = sum(tenant.dashboard == "dedicated" for tenant in there)
    detailed = sum(tenant.metrics == "detailed" for tenant in there)
    theirs = all_of_it.usd - of_platform(names).usd
    return (
        f"metrics, dashboards and alarms cost up to ${all_of_it.usd:,.2f} a month, of which "
        f"{len(there):,} tenants ${theirs:,.2f} ({own:,} with a dashboard of their own, {detailed:,} with "
        f"metrics in detail): list prices of {prices.REGION}, {prices.READ_ON}; `onceward cost` has the rest"
    )


def _of_every_tenant() -> int:
    of_functions = sum(map(len, catalogue.PER_TENANT.values()))
    return of_functions + sum(catalogue.OF_TENANT in each.dimensions for each in catalogue.ACCESS_LOG)


def _in_detail() -> int:
    """Series of a tenant's operations: of everything that is emitted for one tenant."""
    return sum(
        OPERATIONS[function] * len(emitted)
        for function, emitted in catalogue.BY_FUNCTION.items()
        if function not in catalogue.NEVER_IN_DETAIL
    )
