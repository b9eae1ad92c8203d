"""What functions print: metrics (CloudWatch's embedded format) and log lines, taken apart."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from handlers.domain import metric_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SERVICES = ("onceward-dev_", "onceward-local_")
"""What the worlds of the functions' tests call their stages."""


class Series(NamedTuple):
    """A family of metrics: all that differ only in the values of their dimensions, but for the function."""

    namespace: str
    function: str
    name: str
    dimensions: frozenset[str]
    unit: str


@dataclass
class Heard:
    """Everything that was printed. `lines`: log lines, parsed."""

    metrics: list[Mapping[str, Any]] = field(default_factory=list)
    lines: list[Mapping[str, Any]] = field(default_factory=list)

    def take(self, text: str) -> None:
        """Sort what was printed."""
        for line in text.splitlines():
            document = json.loads(line)
            (self.metrics if "_aws" in document else self.lines).append(document)

    def series(self) -> set[Series]:
        """Every series that was emitted."""
        return {each for line in self.metrics for each in series_in(line)}


def series_in(line: Mapping[str, Any]) -> Iterator[Series]:
    """The series of one line of metrics; every dimension must have a value, and every metric one too."""
    prefix = next(each for each in SERVICES if line["Service"].startswith(each))
    function = line["Service"].removeprefix(prefix)
    for directive in line["_aws"]["CloudWatchMetrics"]:
        for metric in directive["Metrics"]:
            assert [value for value in line[metric["Name"]] if not isinstance(value, (int, float))] == []
            for names in directive["Dimensions"]:
                assert all(isinstance(line[name], str) and line[name] for name in names)
                yield Series(
                    directive["Namespace"], function, metric["Name"], frozenset(names), metric["Unit"]
                )


def catalogued() -> set[Series]:
    """Every series that the catalogue says functions emit."""
    return {
        Series(metric_catalogue.NAMESPACE, function, metric.name, frozenset(dimensions), metric.unit)
        for function, metrics in metric_catalogue.BY_FUNCTION.items()
        for metric in metrics
        for dimensions in _sets(function, metric.name)
    }


def from_access_log() -> set[Series]:
    """Every series that the catalogue says CloudWatch makes of the access log."""
    return {
        Series(
            metric_catalogue.NAMESPACE, metric_catalogue.API, metric.name, frozenset(dimensions), metric.unit
        )
        for metric in metric_catalogue.ACCESS_LOG
        for dimensions in metric.dimensions
    }


def _sets(function: str, name: str) -> Iterable[metric_catalogue.Dimensions]:
    yield from metric_catalogue.ROLL_UPS
    if name in metric_catalogue.PER_TENANT.get(function, ()):
        yield metric_catalogue.OF_TENANT
    if function not in metric_catalogue.NEVER_IN_DETAIL:
        yield metric_catalogue.IN_DETAIL
