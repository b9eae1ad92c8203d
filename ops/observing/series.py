"""What a metric is called, and one thing measured of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Unit(StrEnum):
    """What is counted or measured, in CloudWatch's words."""

    COUNT = "Count"
    MILLISECONDS = "Milliseconds"
    SECONDS = "Seconds"
    BYTES = "Bytes"
    PERCENT = "Percent"
    NONE = "None"


@dataclass(frozen=True, slots=True, order=True)
class SeriesName:
    """One metric with its dimensions, sorted by their names: two are the same metric only if all of it is."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, namespace: str, name: str, dimensions: Mapping[str, str]) -> SeriesName:
        """The series with these dimensions, in whatever order they come."""
        return cls(namespace, name, tuple(sorted(dimensions.items())))


@dataclass(frozen=True, slots=True)
class Point:
    """A value that was seen `times` times.

    Attributes:
        at_ms: when, in milliseconds since the epoch.
        origin: where it was observed, if nobody emits it here as AWS would ("observed here from ..."); None
            of what the functions emit themselves.
    """

    series: SeriesName
    unit: Unit
    at_ms: int
    value: float
    times: int = 1
    origin: str | None = None
