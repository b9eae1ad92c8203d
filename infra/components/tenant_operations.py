"""A tenant's alarms and dashboard."""

import pulumi
import pulumi_aws as aws

from infra import dashboards
from infra.components.composite_alarm import make_composite
from infra.components.metric_alarm import make_alarm
from infra.components.operations import Paging
from infra.composites import EXTENSION_SECONDS, Composite
from infra.stage import Stage
from infra.tenant_alarms import TOGETHER, own_alarms, tenant_rules
from tenants.models import Tenant


def make_alarms(tenant: Tenant, stage: Stage, paging: Paging, *, parent: pulumi.Resource) -> None:
    """Make the alarms that the tenant's file asks for, and one over them that pages.

    Only a composite can be muted while the platform is down, so its children tell nobody.
    """
    runbook = stage.settings.runbook_url
    alarms = own_alarms(tenant, stage.names)
    made = [
        make_alarm(
            f"{tenant.id}.alarm.{alarm.name}",
            stage.names.tenant_part(tenant.id, alarm.name),
            alarm,
            None,
            stage.child(parent),
            runbook=runbook,
        )
        for alarm in alarms
    ]
    if not alarms:
        return
    children = tuple(stage.names.tenant_part(tenant.id, alarm.name) for alarm in alarms)
    # A failure of the outage rings for as long as its window is, which the tenant's file says.
    longest = max(alarm.periods * alarm.period_seconds for alarm in alarms)
    make_composite(
        f"{tenant.id}.alarm",
        stage.names.tenant_part(tenant.id, TOGETHER),
        Composite(
            TOGETHER,
            f"Tenant {tenant.id} is in trouble, and the platform is not.",
            children,
            "tenant-alarm",
            max(EXTENSION_SECONDS, longest),
        ),
        list(zip(children, made, strict=True)),
        paging.topic_arn,
        stage.child(parent),
        runbook=runbook,
        suppressor=paging.platform_down,
    )


def make_dashboard(tenant: Tenant, stage: Stage, *, parent: pulumi.Resource) -> None:
    """Make the tenant's own dashboard."""
    place = dashboards.Place(stage.arns, stage.settings.runbook_url)
    rules = tenant_rules(stage.names, all_topics=stage.settings.watch_all_topics)
    aws.cloudwatch.Dashboard(
        f"{tenant.id}.dashboard",
        dashboard_name=stage.names.tenant(tenant.id),
        dashboard_body=dashboards.tenant_body(tenant, place, rules),
        opts=stage.child(parent),
    )
