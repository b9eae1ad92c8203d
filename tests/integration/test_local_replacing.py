"""Replacing what others live in, on the local AWS: they are there again afterwards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pulumi
import pulumi_aws as aws
import pytest

from tests.integration.local_stack import TRUST, allow, clients, names, stack

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.local.clients import Clients
    from tests.integration.local_stack import Stack

__all__ = ["clients", "stack"]

pytestmark = pytest.mark.platform


def role(changed: bool) -> None:
    made = aws.iam.Role("home", name="s-role", path="/b/" if changed else "/a/", assume_role_policy=TRUST)
    aws.iam.RolePolicy("inside", name="s-inline", role=made.name, policy=allow("sqs:ListQueues"))


def role_has(clients: Clients) -> bool:
    return bool(clients.iam.list_role_policies(RoleName="s-role")["PolicyNames"] == ["s-inline"])


def log_group(changed: bool) -> None:
    kind = "INFREQUENT_ACCESS" if changed else "STANDARD"
    made = aws.cloudwatch.LogGroup("home", name="/s/group", log_group_class=kind)
    metric = aws.cloudwatch.LogMetricFilterMetricTransformationArgs(name="m", namespace="n", value="1")
    aws.cloudwatch.LogMetricFilter(
        "inside", name="s-filter", log_group_name=made.name, pattern="x", metric_transformation=metric
    )


def log_group_has(clients: Clients) -> bool:
    return len(clients.logs.describe_metric_filters(logGroupName="/s/group")["metricFilters"]) == 1


def table(changed: bool) -> None:
    made = aws.dynamodb.Table(
        "home",
        name="s-table",
        hash_key="pk",
        attributes=[aws.dynamodb.TableAttributeArgs(name="pk", type="S")],
        billing_mode="PAY_PER_REQUEST",
        deletion_protection_enabled=False if changed else None,
        opts=pulumi.ResourceOptions(replace_on_changes=["deletionProtectionEnabled"]),
    )
    item = json.dumps({"pk": {"S": "one"}})
    aws.dynamodb.TableItem("inside", table_name=made.name, hash_key="pk", item=item)


def table_has(clients: Clients) -> bool:
    return bool(clients.dynamodb.scan(TableName="s-table")["Count"] == 1)


def topic(changed: bool) -> None:
    options = pulumi.ResourceOptions(replace_on_changes=["displayName"])
    made = aws.sns.Topic("home", name="s-topic", display_name="new" if changed else "old", opts=options)
    aws.sns.TopicSubscription(
        "inside", topic=made.arn, protocol="sqs", endpoint="arn:aws:sqs:eu-central-1:000000000000:nowhere"
    )


def topic_has(clients: Clients) -> bool:
    return len(clients.sns.list_subscriptions()["Subscriptions"]) == 1


def queue(changed: bool) -> None:
    options = pulumi.ResourceOptions(replace_on_changes=["delaySeconds"])
    made = aws.sqs.Queue("home", name="s-queue", delay_seconds=2 if changed else 1, opts=options)
    aws.sqs.QueuePolicy("inside", queue_url=made.url, policy=allow("sqs:SendMessage"))


def queue_has(clients: Clients) -> bool:
    (url,) = clients.sqs.list_queues()["QueueUrls"]
    return "Attributes" in clients.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["Policy"])


@pytest.mark.parametrize(
    ("program", "has"),
    [
        (role, role_has),
        (log_group, log_group_has),
        (table, table_has),
        (topic, topic_has),
        (queue, queue_has),
    ],
    ids=lambda each: each.__name__,
)
def test_what_lives_in_a_replaced_resource_is_there_again(
    stack: Stack, program: Callable[[bool], None], has: Callable[[Clients], bool]
) -> None:
    summary = stack.through(program)
    assert names(summary.replaced) == {"home", "inside"}
    assert has(stack.aws)
