"""What an alarm is."""

from dataclasses import dataclass
from typing import Final

from infra.metrics import Metric

MINUTE: Final = 60
# Counts are looked at over five minutes: shorter and a deployment's blip rings, longer and people wait. The
# window slides: CloudWatch looks at the last five minutes once a minute (its guide, "Evaluating an alarm").
WINDOW: Final = 5 * MINUTE
RUNBOOK: Final = "docs/runbook.md"
"""Where the runbook is in the repository: what an alarm links to unless `onceward:runbookUrl` says more."""


def runbook_url(section: str, page: str = RUNBOOK) -> str:
    """The address of a section of the runbook; `page` is where the runbook itself is."""
    return f"{page}#{section}"


@dataclass(frozen=True)
class Share:
    """At least `percent` of what the metrics of `of` add up to."""

    of: tuple[Metric, ...]
    percent: int


@dataclass(frozen=True)
class Alarm:
    """Rings when `metric` and those of `plus`, less those of `minus`, add up to at least `threshold`, in
    `periods` periods of `period_seconds` in a row.

    With `share` they must be so many and so large a part: a handful is a fault where few call, and noise
    where many do. With `wanted` it is the other way round: what is counted has to happen, and the alarm
    rings below the threshold.

    A missing data point is nothing bad, but for what is wanted: all other metrics count or time something
    that happens, and where nothing happens nothing is wrong. Which takes "not breaching", and for what is
    counted a zero in its place (see `infra.components.metric_alarm`).
    """

    name: str
    description: str
    metric: Metric
    threshold: float
    period_seconds: int = WINDOW
    periods: int = 1
    plus: tuple[Metric, ...] = ()
    minus: tuple[Metric, ...] = ()
    share: Share | None = None
    wanted: bool = False
    runbook: str = ""
    """The section of the runbook, where it is not called as the alarm is."""

    @property
    def section(self) -> str:
        """The section of the runbook that says what to do."""
        return self.runbook or self.name


@dataclass(frozen=True)
class QueryAlarm:
    """An alarm on all tenants at once: rings for each line of a Metrics Insights query that reaches
    `threshold` in `periods` of the last `out_of` periods of `period_seconds`.

    Missing data points are not breaching; a line that the query returns no more is over, whatever is said of
    missing data (CloudWatch's guide, "Missing Data in CloudWatch Metrics Insights alarms").
    """

    name: str
    description: str
    query: str
    threshold: float
    runbook: str
    period_seconds: int = WINDOW
    periods: int = 1
    out_of: int = 1

    @property
    def section(self) -> str:
        """The section of the runbook that says what to do."""
        return self.runbook
