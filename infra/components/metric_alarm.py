"""A CloudWatch alarm from its data."""

from collections.abc import Mapping
from typing import Any

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
    aws.cloudwatch.MetricAlarm(
        logical_name,
        name=name,
        alarm_description=alarm.description,
        **(_sum_of(alarm) if alarm.plus else _watching(alarm, made_dimensions or {})),
        evaluation_periods=alarm.periods,
        threshold=alarm.threshold,
        comparison_operator="GreaterThanOrEqualToThreshold",
        treat_missing_data="notBreaching",
        alarm_actions=[topic_arn],
        ok_actions=[topic_arn],
        opts=opts,
    )


def _watching(alarm: Alarm, made_dimensions: Mapping[str, pulumi.Input[str]]) -> dict[str, Any]:
    metric = alarm.metric
    percentile = metric.statistic if metric.statistic.startswith("p") else None
    return {
        "namespace": metric.namespace,
        "metric_name": metric.name,
        "dimensions": {**dict(metric.dimensions), **made_dimensions},
        "statistic": None if percentile is not None else metric.statistic,
        "extended_statistic": percentile,
        # "ignore" would leave the alarm of a quiet API as it is: never ringing, or ringing for ever.
        "evaluate_low_sample_count_percentiles": None if percentile is None else "evaluate",
        "period": alarm.period_seconds,
    }


def _sum_of(alarm: Alarm) -> dict[str, Any]:
    summed = {f"m{number}": metric for number, metric in enumerate((alarm.metric, *alarm.plus))}
    queries = [
        aws.cloudwatch.MetricAlarmMetricQueryArgs(
            id=name,
            metric=aws.cloudwatch.MetricAlarmMetricQueryMetricArgs(
                namespace=metric.namespace,
                metric_name=metric.name,
                dimensions=dict(metric.dimensions),
                stat=metric.statistic,
                period=alarm.period_seconds,
            ),
        )
        for name, metric in summed.items()
    ]
    # One of them without data must not make the sum one without data.
    total = aws.cloudwatch.MetricAlarmMetricQueryArgs(
        id="total", expression=" + ".join(f"FILL({name}, 0)" for name in summed), return_data=True
    )
    return {"metric_queries": [total, *queries]}
