"""Metrics by CloudWatch's embedded metric format: a line on stdout, no call.

Dimension sets are emitted, not hoped for: `{Service}`, `{Service, Operation}` for everything, and
`{Service, TenantId}` for the few counts that a tenant's dashboard and alarms need, since every series costs.
Never a key, an id, a path or an error text as a dimension.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMESPACE: Final = "Onceward"
# `Unauthorized` comes of webhooks alone, and only for tenants that exist: strangers cannot make series.
PER_TENANT: Final = frozenset({"Accepted", "Replayed", "Failed", "Unauthorized"})


def service_name(stage: str, function: str) -> str:
    """The value of `Service`: the function's name on AWS, such as `onceward-dev_ingest`.

    It carries the stage, since stages of one account share the namespace: with `ingest` alone the alarms of
    one would count the other's failures.
    """
    return f"onceward-{stage}_{function}"


def emit(
    service: str,
    operation: str,
    tenant_id: str | None,
    counts: Mapping[str, int],
    milliseconds: Mapping[str, float],
) -> None:
    """Print the EMF lines for one request or record.

    Args:
        service: what `service_name` says.
        tenant_id: None where the tenant is not known.
        counts: metric name to count.
        milliseconds: metric name to duration.
    """
    metrics = _provider(service)
    metrics.add_dimensions(Service=service, Operation=operation)
    for name, count in counts.items():
        metrics.add_metric(name, "Count", count)
    for name, duration in milliseconds.items():
        metrics.add_metric(name, "Milliseconds", duration)
    metrics.flush_metrics()
    per_tenant = {name: count for name, count in counts.items() if name in PER_TENANT}
    if tenant_id is not None and per_tenant:
        tenants = _provider(service)
        tenants.add_dimension("TenantId", tenant_id)
        for name, count in per_tenant.items():
            tenants.add_metric(name, "Count", count)
        tenants.flush_metrics()


def _provider(service: str) -> AmazonCloudWatchEMFProvider:
    # `service=""` keeps Powertools from adding its own `service` dimension beside ours. Both dicts are ours:
    # by default the provider shares state between instances of the process.
    return AmazonCloudWatchEMFProvider(
        metric_set={}, dimension_set={"Service": service}, metadata_set={}, namespace=NAMESPACE, service=""
    )
