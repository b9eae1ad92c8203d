"""A CloudWatch alarm from its data."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from infra.alarm import Alarm


def make_alarm(
    logical_name: str,
    name: str,
    alarm: Alarm,
    topic_arn: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
    *,
    made_dimensions: Mapping[str, pulumi.Input[str]] | None = None,
) -> None:
    """Make `alarm`, called `name` on AWS; it tells the topic when it rings and when it is over.

    `made_dimensions` are further dimensions whose values AWS makes up (the id of an event source mapping).
    """
    metric = alarm.metric
    percentile = metric.statistic if metric.statistic.startswith("p") else None
    aws.cloudwatch.MetricAlarm(
        logical_name,
        name=name,
        alarm_description=alarm.description,
        namespace=metric.namespace,
        metric_name=metric.name,
        dimensions={**dict(metric.dimensions), **(made_dimensions or {})},
        statistic=None if percentile is not None else metric.statistic,
        extended_statistic=percentile,
        # "ignore" would leave the alarm of a quiet API as it is: never ringing, or ringing for ever.
        evaluate_low_sample_count_percentiles=None if percentile is None else "evaluate",
        period=alarm.period_seconds,
        evaluation_periods=alarm.periods,
        threshold=alarm.threshold,
        comparison_operator="GreaterThanOrEqualToThreshold",
        treat_missing_data="notBreaching",
        alarm_actions=[topic_arn],
        ok_actions=[topic_arn],
        opts=opts,
    )
