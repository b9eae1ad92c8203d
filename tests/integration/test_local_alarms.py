"""The stage's real alarms on the local AWS: made after what they name, changed in place, gone at the end."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pulumi
import pytest

from infra.components.operations import Operations, rules_on_all
from infra.components.tenant_operations import make_alarms
from infra.naming import Location, Names
from infra.stage import Stage
from tenants.models import Tenant
from tests.infra.stages import settings_of
from tests.integration.local_stack import REGION, Stack, clients, names, stack

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["clients", "stack"]

pytestmark = pytest.mark.platform


class Tenants(pulumi.ComponentResource):
    """Stands for what tenants have beside their alarms."""

    def __init__(self) -> None:
        super().__init__("onceward:index:Tenant", "tenants")


def tenant(tenant_id: str, minutes: int, dashboard: str = "dedicated") -> Tenant:
    rule = {"threshold": 1, "minutes": minutes}
    return Tenant.model_validate(
        {
            "id": tenant_id,
            "name": tenant_id,
            "tier": "pro",
            "stages": ("local",),
            "keys": ("server",),
            "alarms": {"stuckWork": rule},
            "dashboard": dashboard,
        }
    )


def alarms_of(tenants: Sequence[Tenant], account: str) -> None:
    stage = Stage(settings_of("local"), Names("local"), Location("aws", account, REGION))
    operations = Operations(stage, "alias/none", rules_on_all(stage, tenants), len(tenants))
    parent = Tenants()
    for each in tenants:
        make_alarms(each, stage, operations.paging, parent=parent)


def test_the_stages_alarms_are_made_changed_in_place_and_taken_away(stack: Stack) -> None:
    def program(changed: bool) -> None:
        alarms_of([tenant("alpha", 10 if changed else 5), tenant("beta", 5, "shared")], stack.aws.account)

    changed = stack.through(program)
    assert names(changed.updated) == {"alpha.alarm.stuck-work"}
    cloudwatch = stack.aws.cloudwatch
    every: list[tuple[str, Any]] = [
        (alarm["AlarmName"], alarm)
        for page in cloudwatch.get_paginator("describe_alarms").paginate(
            AlarmTypes=["MetricAlarm", "CompositeAlarm"]
        )
        for kind in ("MetricAlarms", "CompositeAlarms")
        for alarm in page[kind]
    ]
    made = dict(every)
    assert made["onceward-local_platform-down"]["AlarmRule"] == (
        'ALARM("onceward-local_calls-failing") OR ALARM("onceward-local_requests-failing") '
        'OR ALARM("onceward-local_dispatch-failing") OR ALARM("onceward-local_work-failing")'
    )
    assert made["onceward-local-alpha_alarm"]["AlarmActions"]
    assert not made["onceward-local-alpha_stuck-work"]["AlarmActions"]
    assert "onceward-local-beta_alarm" not in made
    assert "onceward-local_tenants-deliveries" in made
    assert made["onceward-local_tenants-failing-ingest"]["AlarmDescription"].endswith(
        "docs/runbook.md#tenant-failed-requests"
    )
    # Taken away in an order in which no composite is left without its children.
    stack.up(lambda: None)
    assert stack.left_over() == []
    assert cloudwatch.describe_alarms(AlarmTypes=["CompositeAlarm"])["CompositeAlarms"] == []


def test_a_tenant_that_comes_and_goes_moves_no_other_alarm(stack: Stack) -> None:
    def program(*tenants: Tenant) -> None:
        alarms_of(tenants, stack.aws.account)

    stack.up(partial(program, tenant("alpha", 5)))
    came = stack.up(partial(program, tenant("alpha", 5), tenant("gamma", 5)))
    assert names(came.created) == {
        "gamma.alarm",
        *(
            f"gamma.alarm.{rule}"
            for rule in (
                *("failed-requests", "provider-trouble", "throttled-requests"),
                *("failed-deliveries", "stuck-work"),
            )
        ),
    }
    assert not came.updated
    went = stack.up(partial(program, tenant("alpha", 5)))
    assert names(went.deleted) == names(came.created)
    assert not went.updated
