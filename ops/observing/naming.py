"""Series of the metrics that the Pulumi program knows: AWS's namespaces and dimensions are spelt there."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ops.observing.series import SeriesName

if TYPE_CHECKING:
    from infra.metrics import Metric


@cache
def of_metric(metric: Metric) -> SeriesName:
    """The series that a widget or alarm on this metric reads."""
    return SeriesName.of(metric.namespace, metric.name, dict(metric.dimensions))
