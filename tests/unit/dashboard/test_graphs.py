"""What is drawn of a widget of metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ops.dashboard.body import parse
from ops.dashboard.graphs import PALETTE, graph
from ops.dashboard.windows import Window
from tests.unit.dashboard.made import BEGAN_MS, accepted, body, counts, latency, row, store, widget

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = Window(BEGAN_MS, BEGAN_MS + 120_000)
ALARM = {"horizontal": [{"label": "too many", "value": 300}]}


def drawn(directory: Path, one: Any, *, choice: str = "written", shown: Window = SHOWN) -> dict[str, Any]:
    (parsed,) = parse(body(one)).widgets
    with store(directory) as metrics:
        return graph(parsed, metrics, shown, choice, inherit=False)


def test_a_line_has_its_label_unit_colour_and_points(tmp_path: Path) -> None:
    made = drawn(tmp_path, counts())
    assert made["lines"] == [
        {
            "label": "accepted",
            "color": PALETTE[0],
            "dashed": False,
            "axis": "left",
            "unit": "Count",
            "points": [[BEGAN_MS, 180.0], [BEGAN_MS + 60_000, 180.0]],
            "origin": None,
        }
    ]
    assert (made["view"], made["period"], made["start"], made["end"]) == (
        "lines",
        60,
        SHOWN.start_ms,
        SHOWN.end_ms,
    )


def test_a_line_that_only_feeds_another_is_not_drawn(tmp_path: Path) -> None:
    rows = [
        row(accepted(), stat="Sum", id="a", visible=False),
        [{"expression": "a / 60", "label": "a second"}],
    ]
    (line,) = drawn(tmp_path, widget(title="Rate", period=60, metrics=rows))["lines"]
    assert (line["label"], line["points"][0][1]) == ("a second", 3.0)


def test_the_ninth_line_has_the_first_colour_dashed(tmp_path: Path) -> None:
    rows = [row(accepted(), stat=f"p{number}") for number in range(10, 19)]
    lines = drawn(tmp_path, widget(metrics=rows))["lines"]
    assert (lines[8]["color"], lines[8]["dashed"], lines[7]["dashed"]) == (PALETTE[0], True, False)


def test_no_line_has_the_colour_that_the_body_gives_to_another(tmp_path: Path) -> None:
    rows = [row(accepted(), stat="Sum"), row(latency(), stat="p50", color=PALETTE[0].upper())]
    first, second = drawn(tmp_path, widget(metrics=rows))["lines"]
    assert (first["color"], second["color"]) == (PALETTE[1], PALETTE[0].upper())


def test_an_alarm_line_is_drawn_with_the_period_that_it_is_for(tmp_path: Path) -> None:
    made = drawn(tmp_path, counts(annotations=ALARM))
    assert [(one["label"], one["value"], one["axis"]) for one in made["thresholds"]] == [
        ("too many", 300.0, "left")
    ]
    assert made["notes"] == []


def test_an_alarm_line_of_a_count_is_named_instead_when_periods_are_shorter(tmp_path: Path) -> None:
    made = drawn(tmp_path, counts(annotations=ALARM), choice="fine")
    assert made["thresholds"] == []
    assert made["notes"] == ["Not drawn at 10 s periods: too many (300 per 60 s)"]


def test_an_alarm_line_of_a_percentile_holds_for_every_period(tmp_path: Path) -> None:
    one = widget(period=60, metrics=[row(latency(), stat="p99")], annotations=ALARM)
    assert len(drawn(tmp_path, one, choice="fine")["thresholds"]) == 1


@pytest.mark.parametrize(
    ("expression", "grows"),
    [
        ("FILL(a, 0)", True),
        ("100 * a / b", False),
        ('SELECT SUM("N") FROM SCHEMA("AWS/SNS", T) GROUP BY T', True),
        ("SEARCH('{AWS/SQS,QueueName} MetricName=\"Sent\"', 'Sum', 60)", True),
        ("SEARCH('{AWS/SQS,QueueName} MetricName=\"Age\"', 'Maximum', 60)", False),
    ],
)
def test_what_grows_with_the_period_is_told_from_what_does_not(
    tmp_path: Path, expression: str, grows: bool
) -> None:
    rows = [
        row(accepted(), stat="Sum", id="a", visible=False),
        row(accepted(), stat="Sum", id="b", visible=False),
        [{"expression": expression}],
    ]
    made = drawn(tmp_path, widget(period=60, metrics=rows, annotations=ALARM), choice="fine")
    assert bool(made["notes"]) is grows


def test_an_axis_that_names_its_period_names_the_one_that_is_drawn(tmp_path: Path) -> None:
    axis = {"left": {"label": "requests per 5 minutes", "min": 0}}
    assert drawn(tmp_path, counts(yAxis=axis))["axes"]["left"] == {
        "label": "requests per 5 minutes",
        "min": 0,
        "max": None,
    }
    fine = drawn(tmp_path, counts(yAxis=axis), choice="fine")
    assert fine["axes"]["left"]["label"] == "requests per 10 s"


def test_a_single_value_over_the_whole_range_is_one_point(tmp_path: Path) -> None:
    shown = Window(BEGAN_MS + 30_000, BEGAN_MS + 120_000)
    one = counts(view="singleValue", setPeriodToTimeRange=True)
    made = drawn(tmp_path, one, shown=shown)
    assert (made["view"], made["whole"], made["lines"][0]["points"]) == (
        "numbers",
        True,
        [[shown.start_ms, 270.0]],
    )


def test_a_moment_is_marked(tmp_path: Path) -> None:
    moment = {"vertical": [{"label": "deploy", "value": "2025-06-15T15:00:00Z"}]}
    (mark,) = drawn(tmp_path, counts(annotations=moment))["marks"]
    assert (mark["label"], mark["ms"]) == ("deploy", BEGAN_MS)


def test_what_has_no_number_as_its_value_is_left_out(tmp_path: Path) -> None:
    rows = [row(accepted(), stat="Sum", id="a", visible=False), [{"expression": "a / (a - a)", "label": "x"}]]
    (line,) = drawn(tmp_path, widget(period=60, metrics=rows))["lines"]
    assert line["points"] == []
