"""CloudWatch alarms and dashboards."""

from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, json_text, physical_name
from ops.local.state import Entry

_ACTIONS = {
    "actionsEnabled": "ActionsEnabled",
    "alarmActions": "AlarmActions",
    "alarmDescription": "AlarmDescription",
    "insufficientDataActions": "InsufficientDataActions",
    "okActions": "OKActions",
}
"""Properties of both kinds of alarms to CloudWatch's names of them."""

_METRIC = {
    "comparisonOperator": "ComparisonOperator",
    "datapointsToAlarm": "DatapointsToAlarm",
    "evaluateLowSampleCountPercentiles": "EvaluateLowSampleCountPercentile",
    "evaluationPeriods": "EvaluationPeriods",
    "extendedStatistic": "ExtendedStatistic",
    "metricName": "MetricName",
    "namespace": "Namespace",
    "period": "Period",
    "statistic": "Statistic",
    "threshold": "Threshold",
    "thresholdMetricId": "ThresholdMetricId",
    "treatMissingData": "TreatMissingData",
    "unit": "Unit",
}


class MetricAlarm(Provider):
    """aws.cloudwatch.MetricAlarm."""

    kind: ClassVar = "aws:cloudwatch/metricAlarm:MetricAlarm"
    identity: ClassVar = Identity(names=("name",))
    applied: ClassVar = frozenset({"name", "dimensions", "metricQueries", *_ACTIONS, *_METRIC})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutMetricAlarm."""
        return self._put(aws, physical_name(inputs, name), inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutMetricAlarm over the old one."""
        return self._put(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteAlarms, which succeeds for one that is not there."""
        aws.cloudwatch.delete_alarms(AlarmNames=[old.id])

    def _put(self, aws: Clients, alarm: str, inputs: Inputs) -> Made:
        arguments: dict[str, Any] = {**_named(inputs, _ACTIONS), **_named(inputs, _METRIC)}
        if "dimensions" in inputs:
            arguments["Dimensions"] = _dimensions(inputs["dimensions"])
        if "metricQueries" in inputs:
            arguments["Metrics"] = [_query(query) for query in inputs["metricQueries"]]
        aws.cloudwatch.put_metric_alarm(AlarmName=alarm, **arguments)
        return Made(alarm, {"name": alarm, "arn": aws.arn("cloudwatch", f"alarm:{alarm}")})


def _named(inputs: Inputs, names: dict[str, str]) -> dict[str, Any]:
    return {names[key]: inputs[key] for key in names if key in inputs}


def _dimensions(dimensions: Inputs) -> list[dict[str, str]]:
    return [{"Name": name, "Value": value} for name, value in sorted(dimensions.items())]


def _query(query: Inputs) -> dict[str, Any]:
    made = _named(query, {"id": "Id", "expression": "Expression", "label": "Label", "period": "Period"})
    made["ReturnData"] = bool(query.get("returnData"))
    metric = query.get("metric")
    if metric:
        what = {
            **_named(metric, {"metricName": "MetricName", "namespace": "Namespace"}),
            "Dimensions": _dimensions(metric.get("dimensions", {})),
        }
        made["MetricStat"] = {
            "Metric": what,
            **_named(metric, {"period": "Period", "stat": "Stat", "unit": "Unit"}),
        }
    return made


class CompositeAlarm(Provider):
    """aws.cloudwatch.CompositeAlarm."""

    kind: ClassVar = "aws:cloudwatch/compositeAlarm:CompositeAlarm"
    identity: ClassVar = Identity(names=("alarmName",))
    applied: ClassVar = frozenset({"alarmName", "alarmRule", *_ACTIONS})
    not_applied: ClassVar = {"actionsSuppressor": "the emulator suppresses no actions"}

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutCompositeAlarm."""
        alarm = inputs["alarmName"]
        aws.cloudwatch.put_composite_alarm(
            AlarmName=alarm, AlarmRule=inputs["alarmRule"], **_named(inputs, _ACTIONS)
        )
        return Made(alarm, {"arn": aws.arn("cloudwatch", f"alarm:{alarm}")})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutCompositeAlarm over the old one."""
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteAlarms."""
        aws.cloudwatch.delete_alarms(AlarmNames=[old.id])


class Dashboard(Provider):
    """aws.cloudwatch.Dashboard."""

    kind: ClassVar = "aws:cloudwatch/dashboard:Dashboard"
    identity: ClassVar = Identity(names=("dashboardName",))
    applied: ClassVar = frozenset({"dashboardName", "dashboardBody"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutDashboard."""
        dashboard = inputs["dashboardName"]
        body = json_text(inputs["dashboardBody"])
        aws.cloudwatch.put_dashboard(DashboardName=dashboard, DashboardBody=body)
        arn = f"arn:aws:cloudwatch::{aws.account}:dashboard/{dashboard}"
        return Made(dashboard, {"dashboardArn": arn})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutDashboard over the old one."""
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteDashboards."""
        try:
            aws.cloudwatch.delete_dashboards(DashboardNames=[old.id])
        except aws.cloudwatch.exceptions.DashboardNotFoundError:
            return


PROVIDERS = (MetricAlarm, CompositeAlarm, Dashboard)
