"""A CloudWatch metric alarm from its data."""

from collections.abc import Mapping
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from infra.alarm import MINUTE, Alarm, QueryAlarm, runbook_url
from infra.metrics import ONCEWARD, Metric

# Counts that are there only when something happens get a zero where they are missing. Without it CloudWatch
# evaluates the last real points again, and its window slides over them: one trouble rings several times (its
# guide, "Configuring how CloudWatch alarms treat missing data"; tests/unit/observing/test_alarm_states.py).
# And "alarms that evaluate metrics in the AWS/DynamoDB namespace always ignore missing data even if you
# choose a different option" (its API reference, PutMetricAlarm): one that has rung would ring for ever.
# Lambda counts a zero at each call, and SQS measures once a minute.
_WITHOUT_ZEROS: Final = ("AWS/ApiGateway", "AWS/DynamoDB", "AWS/Events", "AWS/SNS", ONCEWARD)
# How late a data point may come: the functions' metrics come through their logs, and a minute or two pass. A
# window that slides by the minute still has them in it if it is at least so long.
_LATE_SECONDS: Final = 5 * MINUTE


def make_alarm(
    logical_name: str,
    name: str,
    alarm: Alarm | QueryAlarm,
    topic_arn: pulumi.Input[str] | None,
    opts: pulumi.ResourceOptions,
    *,
    runbook: str,
    made_dimensions: Mapping[str, pulumi.Input[str]] | None = None,
) -> aws.cloudwatch.MetricAlarm:
    """Make `alarm`, called `name` on AWS; it tells the topic when it rings and when it is over.

    Without a topic it tells nobody: a composite does. `runbook` is where the runbook is; `made_dimensions`
    are more dimensions, whose values AWS makes up (the id of an event source mapping).
    """
    actions = None if topic_arn is None else [topic_arn]
    wanted = isinstance(alarm, Alarm) and alarm.wanted
    return aws.cloudwatch.MetricAlarm(
        logical_name,
        name=name,
        alarm_description=described(alarm.description, alarm.section, runbook),
        **_watched(alarm, made_dimensions or {}),
        threshold=alarm.threshold,
        comparison_operator="LessThanThreshold" if wanted else "GreaterThanOrEqualToThreshold",
        treat_missing_data="breaching" if wanted else "notBreaching",
        alarm_actions=actions,
        ok_actions=actions,
        opts=opts,
    )


def described(description: str, section: str, runbook: str) -> str:
    """An alarm's description: what is wrong, and where to read what to do."""
    return f"{description} Runbook: {runbook_url(section, runbook)}"


def _watched(alarm: Alarm | QueryAlarm, made_dimensions: Mapping[str, pulumi.Input[str]]) -> dict[str, Any]:
    if isinstance(alarm, QueryAlarm):
        return _asking(alarm)
    return _filled(alarm) if _needs_zeros(alarm) else _watching(alarm, made_dimensions)


def _asking(alarm: QueryAlarm) -> dict[str, Any]:
    query = aws.cloudwatch.MetricAlarmMetricQueryArgs(
        id="tenants", expression=alarm.query, period=alarm.period_seconds, return_data=True
    )
    return {
        "metric_queries": [query],
        "evaluation_periods": alarm.out_of,
        "datapoints_to_alarm": alarm.periods,
    }


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
    counted = alarm.metric.statistic == "Sum" and alarm.metric.namespace in _WITHOUT_ZEROS
    return bool(alarm.plus or alarm.minus or alarm.share) or counted


def _filled(alarm: Alarm) -> dict[str, Any]:
    summed = _named("m", (alarm.metric, *alarm.plus))
    less = _named("l", alarm.minus)
    of = _named("n", alarm.share.of if alarm.share else ())
    total = f"{_sum(summed)} - ({_sum(less)})" if less else _sum(summed)
    if alarm.share:
        # By multiplying, since nothing can be divided by where nobody called.
        total = f"IF(100 * ({total}) >= {alarm.share.percent} * ({_sum(of)}), {total}, 0)"
    # One of them without data must not make the sum one without data.
    returned = aws.cloudwatch.MetricAlarmMetricQueryArgs(id="total", expression=total, return_data=True)
    queries = [_query(name, metric, alarm.period_seconds) for name, metric in (summed | less | of).items()]
    # The price of FILL: of a metric that comes late the newest period is always a zero, and an alarm on it
    # alone never rings. So it rings for as many periods as it shall, out of enough to reach back to what came
    # late ("M out of N": CloudWatch's guide to metric math says so of FILL).
    return {
        "metric_queries": [returned, *queries],
        "evaluation_periods": alarm.periods + _late_periods(alarm.period_seconds),
        "datapoints_to_alarm": alarm.periods,
    }


def _named(letter: str, metrics: tuple[Metric, ...]) -> dict[str, Metric]:
    return {f"{letter}{number}": metric for number, metric in enumerate(metrics)}


def _sum(named: Mapping[str, Metric]) -> str:
    return " + ".join(f"FILL({name}, 0)" for name in named)


def _query(name: str, metric: Metric, period_seconds: int) -> aws.cloudwatch.MetricAlarmMetricQueryArgs:
    return aws.cloudwatch.MetricAlarmMetricQueryArgs(
        id=name,
        metric=aws.cloudwatch.MetricAlarmMetricQueryMetricArgs(
            namespace=metric.namespace,
            metric_name=metric.name,
            dimensions=dict(metric.dimensions),
            stat=metric.statistic,
            period=period_seconds,
        ),
    )


def _late_periods(period_seconds: int) -> int:
    return 0 if period_seconds >= _LATE_SECONDS else -(-_LATE_SECONDS // period_seconds) - 1
