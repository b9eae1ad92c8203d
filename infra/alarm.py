"""What an alarm is."""

from dataclasses import dataclass
from typing import Final

from infra.metrics import Metric

MINUTE: Final = 60
# Counts are looked at over five minutes: shorter and a deployment's blip rings, longer and people wait. The
# window slides: CloudWatch looks at the last five minutes once a minute (its guide, "Evaluating an alarm").
WINDOW: Final = 5 * MINUTE


@dataclass(frozen=True)
class Alarm:
    """Rings when `metric` and those of `plus` add up to at least `threshold`, in `periods` periods of
    `period_seconds` in a row.

    A missing data point is nothing bad: all these metrics count or time something that happens, and where
    nothing happens nothing is wrong. Which takes "not breaching" for one metric, and a zero in its place for
    a sum or a table's metric (see `infra.components.metric_alarm`).
    """

    name: str
    description: str
    metric: Metric
    threshold: float
    period_seconds: int = WINDOW
    periods: int = 1
    plus: tuple[Metric, ...] = ()
