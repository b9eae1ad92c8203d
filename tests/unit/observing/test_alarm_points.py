"""M out of N and missing data points: the tables of CloudWatch's user guide, row by row.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html (five points are
looked at for three that are evaluated; 0 is within the threshold, X beyond it, - missing, the newest last).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from ops.observing.alarm_definitions import Missing
from ops.observing.alarm_points import breaching, decide, range_periods
from tests.unit.observing.alarms import definitions, inputs

if TYPE_CHECKING:
    from ops.observing.alarm_definitions import MetricAlarm
    from ops.observing.alarm_points import State

POINTS: dict[str, bool | None] = {"0": False, "X": True, "-": None}
TREATMENTS: tuple[Missing, ...] = ("missing", "ignore", "breaching", "notBreaching")
KEPT = "kept"

THREE_OF_THREE = [
    ("0 - X - X", ["OK", "OK", "OK", "OK"]),
    ("0 - - - -", ["OK", "OK", "OK", "OK"]),
    ("- - - - -", ["INSUFFICIENT_DATA", KEPT, "ALARM", "OK"]),
    ("0 X X - X", ["ALARM", "ALARM", "ALARM", "ALARM"]),
    ("- - X - -", ["ALARM", KEPT, "ALARM", "OK"]),
    # Of earlier editions of the guide.
    ("X - - - -", ["ALARM", KEPT, "ALARM", "OK"]),
    ("- - - - X", ["INSUFFICIENT_DATA", KEPT, "ALARM", "OK"]),
    # "Avoiding premature transitions": neither is old enough.
    ("- - - X -", ["INSUFFICIENT_DATA", KEPT, "ALARM", "OK"]),
    ("- - - X 0", ["OK", "OK", "OK", "OK"]),
]
TWO_OF_THREE = [
    ("0 - X - X", ["ALARM", "ALARM", "ALARM", "ALARM"]),
    ("0 0 X 0 X", ["ALARM", "ALARM", "ALARM", "ALARM"]),
    ("0 - X - -", ["OK", "OK", "ALARM", "OK"]),
    ("- - - - 0", ["OK", "OK", "ALARM", "OK"]),
    ("- - - X -", ["ALARM", KEPT, "ALARM", "OK"]),
    ("- - - - X", ["INSUFFICIENT_DATA", KEPT, "ALARM", "OK"]),
]


def an_alarm(wanted: int, of: int, missing: Missing) -> MetricAlarm:
    alarm = inputs(datapointsToAlarm=wanted, evaluationPeriods=of, treatMissingData=missing)
    return definitions(alarm).metric[0]


@pytest.mark.parametrize("before", ["OK", "ALARM", "INSUFFICIENT_DATA"])
@pytest.mark.parametrize(
    ("wanted", "points", "states"),
    [(3, *row) for row in THREE_OF_THREE] + [(2, *row) for row in TWO_OF_THREE],
)
def test_a_row_of_the_guide(wanted: int, points: str, states: list[str], before: State) -> None:
    seen = [POINTS[mark] for mark in points.split()]
    found = [decide(an_alarm(wanted, 3, missing), seen, before) for missing in TREATMENTS]
    assert found == [before if state is KEPT else state for state in states]


def test_five_points_are_looked_at_for_three() -> None:
    assert range_periods(an_alarm(3, 3, "missing")) == 5


def test_every_treatment_of_missing_data_is_in_the_tables() -> None:
    assert set(TREATMENTS) == set(get_args(Missing))


@pytest.mark.parametrize(
    ("comparison", "at_once"),
    [
        ("GreaterThanOrEqualToThreshold", [False, True, True]),
        ("GreaterThanThreshold", [False, False, True]),
        ("LessThanOrEqualToThreshold", [True, True, False]),
        ("LessThanThreshold", [True, False, False]),
    ],
)
def test_a_value_is_compared_as_the_alarm_says(comparison: str, at_once: list[bool]) -> None:
    alarm = definitions(inputs(comparisonOperator=comparison, threshold=5)).metric[0]
    assert [breaching(alarm, value) for value in (4, 5, 6)] == at_once
