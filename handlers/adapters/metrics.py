"""Metrics by CloudWatch's embedded metric format: one line on stdout for a request or record, no call.

Sets of dimensions are emitted, not hoped for (`handlers.domain.metric_catalogue` says which). A line has one
directive for each part of them, and every value once (CloudWatch's specification of the format,
"MetricDirective object"). Never a key, an id, a path or an error text as a dimension.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

from handlers.domain.metric_catalogue import IN_DETAIL, NAMESPACE, OF_TENANT, PER_TENANT, service_name

if TYPE_CHECKING:
    from collections.abc import Mapping


class About(NamedTuple):
    """What a line is about.

    Attributes:
        function: whose metrics they are, such as `ingest`.
        tenant_id: None where the tenant is not known.
        detailed: whether the tenant has its metrics in detail.
    """

    stage: str
    function: str
    operation: str
    tenant_id: str | None
    detailed: bool = False


def emit(about: About, counts: Mapping[str, int], milliseconds: Mapping[str, float]) -> None:
    """Print the line for one request or record; `counts` and `milliseconds` are by metric name."""
    service = service_name(about.stage, about.function)
    metrics = _provider(service)
    metrics.add_dimensions(Service=service, Operation=about.operation)
    for name, count in counts.items():
        metrics.add_metric(name, "Count", count)
    for name, duration in milliseconds.items():
        metrics.add_metric(name, "Milliseconds", duration)
    document: dict[str, Any] = dict(metrics.serialize_metric_set())
    if about.tenant_id is not None:
        _of_tenant(document, about, about.tenant_id)
    print(json.dumps(document, separators=(",", ":")))


def emit_of_tenant(about: About, counts: Mapping[str, int]) -> None:
    """Print counts of one tenant alone, whose sum over all tenants is told elsewhere."""
    metrics = _provider(service_name(about.stage, about.function))
    metrics.add_dimension("TenantId", str(about.tenant_id))
    for name, count in counts.items():
        metrics.add_metric(name, "Count", count)
    print(json.dumps(metrics.serialize_metric_set(), separators=(",", ":")))


def _of_tenant(document: dict[str, Any], about: About, tenant_id: str) -> None:
    """Count the same values for the tenant too."""
    directives = document["_aws"]["CloudWatchMetrics"]
    everything = directives[0]["Metrics"]
    names = PER_TENANT.get(about.function, frozenset())
    few = [metric for metric in everything if metric["Name"] in names]
    wanted = [(OF_TENANT, few), (IN_DETAIL, everything if about.detailed else [])]
    added = [
        {"Namespace": NAMESPACE, "Dimensions": [list(dimensions)], "Metrics": metrics}
        for dimensions, metrics in wanted
        if metrics
    ]
    if added:
        directives += added
        document["TenantId"] = tenant_id


def _provider(service: str) -> AmazonCloudWatchEMFProvider:
    # `service=""` keeps Powertools from adding its own `service` dimension beside ours. Both dicts are ours:
    # by default the provider shares state between instances of the process.
    return AmazonCloudWatchEMFProvider(
        metric_set={}, dimension_set={"Service": service}, metadata_set={}, namespace=NAMESPACE, service=""
    )
