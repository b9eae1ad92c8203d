"""One tenant's dashboard: of whichever is chosen, or of one that has its own."""

from collections.abc import Mapping, Sequence
from typing import Final

from handlers.domain.metric_catalogue import DETAILED
from infra.alarm import Alarm, QueryAlarm
from infra.dashboards.alarm_lines import with_alarm_lines
from infra.dashboards.by_operation import by_operation
from infra.dashboards.first_steps import HEIGHT, WIDTH, Place, for_a_tenant
from infra.dashboards.sections import section
from infra.dashboards.tenant_graphs import graphs, numbers
from infra.expressions import Search, in_expression
from infra.metrics import ONCEWARD, TAKERS
from infra.naming import Names
from infra.tenant_alarms import TOGETHER, own_alarms
from infra.widget_kinds import AlarmStatus, Widget
from infra.widgets import body
from tenants.models import Tenant

ANY: Final = "TENANT_ID"
"""Stands for the tenant that is chosen; no tenant's id can be this."""
# A search returns 500 series at most (CloudWatch's user guide, "search expression syntax"), and a tenant has
# one for each function that takes requests.
MOST_LISTED: Final = 500 // len(TAKERS)
"""So many tenants are listed to choose from; where there are more, the id has to be typed."""


def any_tenant_body(place: Place, rules: Sequence[QueryAlarm], tenants: int) -> str:
    """The dashboard on which a tenant is chosen, as JSON text. `tenants`: how many the stage has."""
    names = place.names
    widgets = (
        for_a_tenant(place, ANY),
        _status(place, "Alarms on all tenants", [names.platform(rule.name) for rule in rules]),
        *numbers(names, ANY),
        *graphs(names, ANY),
        section("By operation", "Only of tenants whose file says `metrics: detailed`; empty for the others."),
        *by_operation(names, ANY),
    )
    return body(with_alarm_lines(widgets, rules), place.region, [_variable(names, tenants)])


def tenant_body(tenant: Tenant, place: Place, rules: Sequence[QueryAlarm]) -> str:
    """A tenant's own dashboard as JSON text, with its own alarms' lines where it has them."""
    names = place.names
    own = own_alarms(tenant, names)
    rings = [names.tenant_part(tenant.id, name) for name in (TOGETHER, *(alarm.name for alarm in own))]
    widgets: list[Widget] = [
        for_a_tenant(place, tenant.id),
        _status(place, "Its alarms", rings)
        if own
        else _status(place, "Alarms on all tenants", [names.platform(rule.name) for rule in rules]),
        *numbers(names, tenant.id),
        *graphs(names, tenant.id),
    ]
    if tenant.metrics == DETAILED:
        widgets += [section("By operation", "What it sends and what follows, one line for each operation.")]
        widgets += by_operation(names, tenant.id)
    return body(with_alarm_lines(widgets, _lines(own, rules)), place.region)


def _lines(own: Sequence[Alarm], rules: Sequence[QueryAlarm]) -> list[Alarm | QueryAlarm]:
    """Its own alarms count, over minutes of its own choice. Of those on all tenants the shares are drawn too,
    on graphs of their own; the counts would need another period on the same graph."""
    if not own:
        return list(rules)
    return [*own, *(rule for rule in rules if _is_share(rule))]


def _is_share(rule: QueryAlarm) -> bool:
    return all(family.statistic == "Average" for family in in_expression(rule.query))


def _status(place: Place, title: str, alarms: Sequence[str]) -> AlarmStatus:
    arns = tuple(place.arns.location.arn("cloudwatch", f"alarm:{name}") for name in alarms)
    return AlarmStatus(title, arns, WIDTH, HEIGHT)


def _variable(names: Names, tenants: int) -> Mapping[str, object]:
    # A pattern, not a property: the id is within topics' names, queries and the text as well.
    variable = {"type": "pattern", "pattern": ANY, "id": "tenant", "label": "Tenant", "visible": True}
    if tenants > MOST_LISTED:
        return {**variable, "inputType": "input"}
    search = Search(
        ONCEWARD,
        ("Service", "TenantId"),
        ("Accepted",),
        (("Service", tuple(names.platform(taker) for taker in TAKERS)),),
    )
    return {
        **variable,
        "inputType": "select",
        "search": search.searched,
        "populateFrom": "TenantId",
        "defaultValue": "__FIRST",
    }
