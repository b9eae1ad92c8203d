"""How the memory of a process went while it worked, and whether it stayed as it was. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a process reaches in the first tenth of its work is its size: modules, pools, caches that fill.
WARM_UP: Final = 0.1
# A value is the median of so many samples: one taken in the middle of a garbage collection decides nothing.
_AROUND: Final = 5
# Fewer samples after the warm-up than this tell nothing about growth.
LEAST_SAMPLES: Final = 5
# Slopes are told for so many requests.
_SLOPE_REQUESTS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Bound:
    """How much a process may grow after its warm-up, in MB, and why no more."""

    mb: float
    why: str


@dataclass(slots=True)
class Series:
    """The resident memory of one process (or of the largest of a kind) while requests were worked off.

    Attributes:
        name: of what.
        bound: None where growth is told, and not judged.
        samples: (requests worked off by then, MB), in order.
        began_mb: before its first request, where that is known: growth is then from there.
    """

    name: str
    bound: Bound | None = None
    samples: list[tuple[int, float]] = field(default_factory=list)
    began_mb: float | None = None

    def judge(self, requests: int, warm_up: float = WARM_UP) -> Growth:
        """What became of it after the first `warm_up` of `requests`, which is how many there were in all."""
        warm = [one for one in self.samples if one[0] >= requests * warm_up]
        return Growth(self.name, self.bound, tuple(warm), self.began_mb)


@dataclass(frozen=True, slots=True)
class Growth:
    """What a series comes to. `samples`: those after the warm-up. `began_mb`: see `Series`."""

    name: str
    bound: Bound | None
    samples: tuple[tuple[int, float], ...]
    began_mb: float | None = None

    @property
    def known(self) -> bool:
        """There are enough samples to say anything."""
        return len(self.samples) >= LEAST_SAMPLES

    @property
    def start_mb(self) -> float:
        """After the warm-up, or before the first request."""
        return self._around(0.0) if self.began_mb is None else self.began_mb

    @property
    def middle_mb(self) -> float:
        """In the middle of the rest."""
        return self._around(0.5)

    @property
    def end_mb(self) -> float:
        """At the end."""
        return self._around(1.0)

    @property
    def most_mb(self) -> float:
        """The most that any sample after the warm-up has."""
        return max(mb for _, mb in self.samples)

    @property
    def growth_mb(self) -> float:
        """From after the warm-up to the most that it ever was: what grew and was let go counts too."""
        return self.most_mb - self.start_mb

    @property
    def slope_mb(self) -> float:
        """MB per 100,000 requests, by least squares over all samples after the warm-up."""
        return slope(self.samples) * _SLOPE_REQUESTS

    @property
    def constant(self) -> bool | None:
        """Whether it stayed within its bound; None where it is not judged. Too few samples prove nothing."""
        if self.bound is None:
            return None
        return self.known and self.growth_mb <= self.bound.mb

    def to_json(self) -> dict[str, Any]:
        """The figures in MB; only the name and `constant` where there are too few samples."""
        told: dict[str, Any] = {"name": self.name, "constant": self.constant, "samples": len(self.samples)}
        if self.bound is not None:
            told |= {"boundMb": self.bound.mb, "boundBecause": self.bound.why}
        if self.known:
            figures = {
                "afterWarmUpMb": self.start_mb,
                "middleMb": self.middle_mb,
                "endMb": self.end_mb,
                "mostMb": self.most_mb,
                "growthMb": self.growth_mb,
                "mbPer100kRequests": self.slope_mb,
            }
            told |= {name: round(value, 2) for name, value in figures.items()}
        return told

    def _around(self, part: float) -> float:
        last = len(self.samples) - _AROUND
        start = max(0, round(last * part))
        return median(mb for _, mb in self.samples[start : start + _AROUND])


def slope(samples: Sequence[tuple[int, float]]) -> float:
    """The slope of the line with the least squares through some points; 0.0 where all have one x."""
    many = len(samples)
    mean_x = sum(x for x, _ in samples) / many
    mean_y = sum(y for _, y in samples) / many
    spread = sum((x - mean_x) ** 2 for x, _ in samples)
    together = sum((x - mean_x) * (y - mean_y) for x, y in samples)
    return together / spread if spread else 0.0
