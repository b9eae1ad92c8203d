"""CloudWatch log groups, metric filters and saved queries."""

from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, by_name, physical_name, without_missing
from ops.local.state import Entry


class LogGroup(Provider):
    """aws.cloudwatch.LogGroup."""

    kind: ClassVar = "aws:cloudwatch/logGroup:LogGroup"
    identity: ClassVar = Identity(names=("name",), fixed=("logGroupClass",))
    applied: ClassVar = frozenset({"name", "logGroupClass", "retentionInDays", "kmsKeyId"})
    not_applied: ClassVar = {"skipDestroy": "a log group here goes with the platform"}

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateLogGroup and PutRetentionPolicy."""
        group = physical_name(inputs, name)
        aws.logs.create_log_group(
            logGroupName=group,
            **without_missing(kmsKeyId=inputs.get("kmsKeyId"), logGroupClass=inputs.get("logGroupClass")),
        )
        self._retain(aws, group, inputs)
        return Made(group, {"name": group, "arn": aws.arn("logs", f"log-group:{group}")})

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The one with the name."""
        return by_name(inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """The retention and the key."""
        self._retain(aws, old.id, inputs)
        if inputs.get("kmsKeyId") != old.inputs.get("kmsKeyId"):
            if "kmsKeyId" in inputs:
                aws.logs.associate_kms_key(logGroupName=old.id, kmsKeyId=inputs["kmsKeyId"])
            else:
                aws.logs.disassociate_kms_key(logGroupName=old.id)
        return Made(old.id, old.outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteLogGroup."""
        try:
            aws.logs.delete_log_group(logGroupName=old.id)
        except aws.logs.exceptions.ResourceNotFoundException:
            return

    def _retain(self, aws: Clients, group: str, inputs: Inputs) -> None:
        days = inputs.get("retentionInDays", 0)  # 0 is for ever, as in pulumi-aws
        if days:
            aws.logs.put_retention_policy(logGroupName=group, retentionInDays=days)
        else:
            aws.logs.delete_retention_policy(logGroupName=group)


class LogMetricFilter(Provider):
    """aws.cloudwatch.LogMetricFilter: stored; the emulator makes no metric of it."""

    kind: ClassVar = "aws:cloudwatch/logMetricFilter:LogMetricFilter"
    identity: ClassVar = Identity(names=("logGroupName", "name"))
    applied: ClassVar = frozenset({"logGroupName", "name", "pattern", "metricTransformation"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutMetricFilter."""
        return self._put(aws, physical_name(inputs, name), inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutMetricFilter over the old one."""
        return self._put(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteMetricFilter."""
        try:
            aws.logs.delete_metric_filter(logGroupName=old.inputs["logGroupName"], filterName=old.id)
        except aws.logs.exceptions.ResourceNotFoundException:
            return

    def _put(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        asked = inputs["metricTransformation"]
        transformation: dict[str, Any] = {
            "metricName": asked["name"],
            "metricNamespace": asked["namespace"],
            "metricValue": asked["value"],
            **without_missing(dimensions=asked.get("dimensions"), unit=asked.get("unit")),
        }
        if "defaultValue" in asked:
            transformation["defaultValue"] = float(asked["defaultValue"])
        aws.logs.put_metric_filter(
            logGroupName=inputs["logGroupName"],
            filterName=name,
            filterPattern=inputs["pattern"],
            metricTransformations=[transformation],  # type: ignore[list-item]
        )
        return Made(name, {"name": name})


class QueryDefinition(Provider):
    """aws.cloudwatch.QueryDefinition: the emulator keeps none, so only its log groups are looked for.

    Raises ValueError for a log group that is not there.
    """

    kind: ClassVar = "aws:cloudwatch/queryDefinition:QueryDefinition"
    identity: ClassVar = Identity(names=("name",))
    applied: ClassVar = frozenset({"name", "logGroupNames"})
    not_applied: ClassVar = {
        "queryString": "the emulator keeps no saved queries; their log groups are checked"
    }

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """Look for the log groups."""
        for group in inputs.get("logGroupNames", []):
            found = aws.logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"]
            if group not in [each["logGroupName"] for each in found]:
                raise ValueError(f"logGroupNames: there is no log group {group}")
        return Made(f"local-{name}", {"queryDefinitionId": f"local-{name}"})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """As create."""
        self.create(aws, old.id, inputs)
        return Made(old.id, old.outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """Nothing was made."""


PROVIDERS = (LogGroup, LogMetricFilter, QueryDefinition)
