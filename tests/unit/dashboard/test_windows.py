"""Which stretch of time is shown, and in which periods."""

from __future__ import annotations

import pytest

from ops.dashboard.windows import Window, aligned, period, window

SPAN = (1_000_000, 1_100_000)


def test_a_range_of_a_platform_that_runs_ends_now() -> None:
    assert window("5m", SPAN, 2_000_000) == Window(1_700_000, 2_000_000)


def test_a_range_of_a_run_that_is_over_ends_with_its_last_second() -> None:
    assert window("5m", SPAN, None) == Window(801_000, 1_101_000)


def test_all_is_from_the_first_point_to_now() -> None:
    assert window("all", SPAN, 9_000_000) == Window(1_000_000, 9_000_000)


def test_all_of_a_short_run_is_not_stretched_over_the_whole_width() -> None:
    assert window("all", SPAN, None) == Window(801_000, 1_101_000)


def test_there_is_a_range_where_there_are_no_points() -> None:
    assert window("all", None, 600_000) == Window(300_000, 600_000)
    assert window("all", None, None).seconds == 300


@pytest.mark.parametrize(
    ("choice", "written", "seconds", "inherit", "drawn"),
    [
        ("auto", 60, 900, False, 10),  # a short stretch, as AWS would
        ("auto", 60, 900, True, 60),  # the body forbids it
        ("auto", 60, 7200, False, 60),
        ("written", 60, 300, False, 60),
        ("fine", 300, 300, True, 10),  # the reader asked for it
        ("fine", 5, 300, False, 5),  # finer already
        ("fine", 60, 86_400, False, 80),  # never more than 1,440 points
        ("written", 1, 7200, False, 5),
    ],
)
def test_periods_are_as_chosen_and_as_the_body_allows(
    choice: str, written: int, seconds: int, inherit: bool, drawn: int
) -> None:
    assert period(choice, written, Window(0, seconds * 1000), inherit=inherit) == drawn


def test_a_window_is_moved_out_to_whole_periods() -> None:
    assert aligned(Window(61_000, 119_000), 60) == Window(60_000, 120_000)
    assert aligned(Window(60_000, 120_000), 60) == Window(60_000, 120_000)
