"""The metrics of the API's access log."""

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from handlers.domain.metric_catalogue import NAMESPACE
from infra.access_log import MetricFilter
from infra.stage import Stage


def make_metric_filters(
    stage: Stage, log_group: pulumi.Input[str], filters: Sequence[MetricFilter], *, parent: pulumi.Resource
) -> None:
    """Make the metric filters of `log_group`."""
    for each in filters:
        aws.cloudwatch.LogMetricFilter(
            f"access-{each.name}",
            name=stage.names.platform(each.name),
            log_group_name=log_group,
            pattern=each.pattern,
            metric_transformation=aws.cloudwatch.LogMetricFilterMetricTransformationArgs(
                name=each.metric,
                namespace=NAMESPACE,
                value=each.value,
                unit="Count",
                # No default value: CloudWatch takes none beside dimensions.
                dimensions=dict(each.dimensions),
            ),
            opts=stage.child(parent),
        )
