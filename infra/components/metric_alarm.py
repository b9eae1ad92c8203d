"""A CloudWatch alarm from its data."""

from collections.abc import Mapping
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from infra.alarm import MINUTE, Alarm

# "Alarms that evaluate metrics in the AWS/DynamoDB namespace always ignore missing data even if you choose a
# different option" (CloudWatch's API reference, PutMetricAlarm): one that has rung would ring for ever.
_IGNORES_MISSING_DATA: Final = "AWS/DynamoDB"
# How late a data point may come: the functions' metrics come through their logs, and a minute or two pass. A
# window that slides by the minute still has them in it if it is at least so long.
_LATE_SECONDS: Final = 5 * MINUTE


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
        **(_filled(alarm) if _needs_zeros(alarm) else _watching(alarm, made_dimensions or {})),
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
        "evaluation_periods": alarm.periods,
    }


def _needs_zeros(alarm: Alarm) -> bool:
    return bool(alarm.plus) or alarm.metric.namespace == _IGNORES_MISSING_DATA


def _filled(alarm: Alarm) -> dict[str, Any]:
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
    # The price of FILL: of a metric that comes late the newest period is always a zero, and an alarm on it
    # alone never rings. So it rings for as many periods as it shall, out of enough to reach back to what came
    # late ("M out of N": CloudWatch's guide to metric math says so of FILL).
    return {
        "metric_queries": [total, *queries],
        "evaluation_periods": alarm.periods + _late_periods(alarm.period_seconds),
        "datapoints_to_alarm": alarm.periods,
    }


def _late_periods(period_seconds: int) -> int:
    return 0 if period_seconds >= _LATE_SECONDS else -(-_LATE_SECONDS // period_seconds) - 1
