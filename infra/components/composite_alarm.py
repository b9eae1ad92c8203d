"""A CloudWatch composite alarm: pages for its children, unless all is down."""

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from infra.components.metric_alarm import described
from infra.composites import WAIT_SECONDS, Composite, any_of


def make_composite(
    logical_name: str,
    name: str,
    composite: Composite,
    children: Sequence[tuple[str, pulumi.Resource]],
    topic_arn: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
    *,
    runbook: str,
    suppressor: aws.cloudwatch.CompositeAlarm | None = None,
) -> aws.cloudwatch.CompositeAlarm:
    """Make `composite`, called `name` on AWS, over `children` (their whole names, and what makes them).

    While `suppressor` rings it tells nobody. CloudWatch takes no rule that names an alarm which is not
    there, so the children come first.
    """
    muted = None if suppressor is None else _muted_by(suppressor, composite.extension_seconds)
    first = [resource for _, resource in children]
    return aws.cloudwatch.CompositeAlarm(
        logical_name,
        alarm_name=name,
        alarm_description=described(composite.description, composite.section, runbook),
        alarm_rule=any_of(child for child, _ in children),
        alarm_actions=[topic_arn],
        ok_actions=[topic_arn],
        actions_suppressor=muted,
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=first)),
    )


def _muted_by(
    suppressor: aws.cloudwatch.CompositeAlarm, extension_seconds: int
) -> aws.cloudwatch.CompositeAlarmActionsSuppressorArgs:
    return aws.cloudwatch.CompositeAlarmActionsSuppressorArgs(
        alarm=suppressor.alarm_name, wait_period=WAIT_SECONDS, extension_period=extension_seconds
    )
