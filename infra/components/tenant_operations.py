"""A tenant's alarms and dashboard."""

import pulumi
import pulumi_aws as aws

from infra import dashboards
from infra.alarms import tenant_alarms
from infra.components.metric_alarm import make_alarm
from infra.stage import Stage
from tenants.models import Tenant


def make_alarms(
    tenant: Tenant, stage: Stage, topic_arn: pulumi.Input[str], *, parent: pulumi.Resource
) -> None:
    """Make the alarms that the tenant's file asks for."""
    for alarm in tenant_alarms(tenant, stage.names):
        name = stage.names.tenant_part(tenant.id, alarm.name)
        make_alarm(f"{tenant.id}.alarm.{alarm.name}", name, alarm, topic_arn, stage.child(parent))


def make_dashboard(tenant: Tenant, stage: Stage, *, parent: pulumi.Resource) -> None:
    """Make the tenant's own dashboard."""
    aws.cloudwatch.Dashboard(
        f"{tenant.id}.dashboard",
        dashboard_name=stage.names.tenant(tenant.id),
        dashboard_body=dashboards.tenant_body(tenant.id, stage.names, stage.location.region),
        opts=stage.child(parent),
    )
