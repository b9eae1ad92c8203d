"""The state of one series of data points: M out of N, and what is made of points that are missing.

After "Configuring how CloudWatch alarms treat missing data" in CloudWatch's user guide; the tables there are
the tests of this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.observing.alarm_definitions import MetricAlarm

State = Literal["OK", "ALARM", "INSUFFICIENT_DATA"]

# CloudWatch looks further back than the periods that it evaluates, so that real data points stand in for
# missing ones. How far depends on the period, and the guide says only that it is five points for three.
_FURTHER_BACK: Final = 2


def range_periods(alarm: MetricAlarm) -> int:
    """How many periods CloudWatch gets the data points of (the "evaluation range")."""
    return alarm.evaluation_periods + _FURTHER_BACK


def breaching(alarm: MetricAlarm, value: float) -> bool:
    """Whether a data point is beyond the threshold."""
    threshold = alarm.threshold
    match alarm.comparison:
        case "GreaterThanOrEqualToThreshold":
            return value >= threshold
        case "GreaterThanThreshold":
            return value > threshold
        case "LessThanThreshold":
            return value < threshold
        case "LessThanOrEqualToThreshold":
            return value <= threshold


def decide(alarm: MetricAlarm, points: Sequence[bool | None], before: State) -> State:
    """The state that `points` mean, after the state `before`.

    Args:
        points: of the evaluation range, oldest first; whether each is breaching, None for a missing one.
    """
    wanted, evaluated = alarm.datapoints_to_alarm, alarm.evaluation_periods
    real = [point for point in points if point is not None]
    if len(real) >= evaluated:
        return _verdict(sum(real[-evaluated:]) >= wanted)
    lacking = evaluated - len(real)
    match alarm.missing:
        case "breaching":
            return _verdict(sum(real) + lacking >= wanted)
        case "notBreaching":
            return _verdict(sum(real) >= wanted)
        case "missing":
            return _of_few(points, real, wanted)
        case "ignore":
            few = _of_few(points, real, wanted)
            settled = sum(real) >= wanted or few == "OK"
            return few if settled else before


def _of_few(points: Sequence[bool | None], real: Sequence[bool], wanted: int) -> State:
    """What too few real points mean by themselves."""
    if sum(real) >= wanted:
        return "ALARM"
    if not all(real):
        return "OK"
    # Only breaching ones, fewer than are wanted. A breaching point may be the first of a quiet metric, and
    # the next one good; once it is as old as the points that are wanted, none came to say so.
    return "ALARM" if any(points[: len(points) - wanted + 1]) else "INSUFFICIENT_DATA"


def _verdict(rings: bool) -> State:
    return "ALARM" if rings else "OK"
