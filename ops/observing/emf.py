"""From a line in the embedded metric format to what CloudWatch makes of it: a point a dimension set."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ops.observing.series import Point, SeriesName, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_KNOWN_UNITS: Final = {unit.value: unit for unit in Unit}


def structured(line: str) -> dict[str, Any] | None:
    """The JSON object that a log line is; None of one that is none."""
    if not line.startswith("{"):
        return None
    try:
        content = json.loads(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def is_metrics(content: Mapping[str, Any]) -> bool:
    """Whether a structured line is metrics; else it says something to people."""
    return "CloudWatchMetrics" in (content.get("_aws") or {})


def points(content: Mapping[str, Any]) -> Iterator[Point]:
    """The points of such a line. Raises ValueError for one that CloudWatch would pass over in silence."""
    try:
        at_ms = int(content["_aws"]["Timestamp"])
        for directive in content["_aws"]["CloudWatchMetrics"]:
            for metric in directive["Metrics"]:
                for names in directive["Dimensions"]:
                    dimensions = {name: str(content[name]) for name in names}
                    series = SeriesName.of(directive["Namespace"], metric["Name"], dimensions)
                    unit = _KNOWN_UNITS.get(metric.get("Unit", ""), Unit.NONE)
                    for value in _values(content[metric["Name"]]):
                        yield Point(series, unit, at_ms, float(value))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not in the embedded metric format: {type(error).__name__}: {error}") from error


def _values(value: Any) -> list[Any]:  # noqa: ANN401 - a number or a list of them, by the format
    return value if isinstance(value, list) else [value]
