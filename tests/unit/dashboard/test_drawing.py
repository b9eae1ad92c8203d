"""A whole dashboard drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ops.dashboard.body import BodyError, parse
from ops.dashboard.drawing import AlarmShown, Asked, Seen, draw
from tests.unit.dashboard.made import BEGAN_MS, accepted, body, counts, row, store, widget
from tests.unit.dashboard.test_variables import TENANT

if TYPE_CHECKING:
    from pathlib import Path

ARN = "arn:aws:cloudwatch:us-east-1:000000000000:alarm:onceward-local_ingest-errors"
RINGING = AlarmShown("onceward-local_ingest-errors", "ALARM", "It fails.", muted=False)


def drawn(directory: Path, text: str, asked: Asked | None = None, **alarms: AlarmShown) -> dict[str, Any]:
    with store(directory) as metrics:
        return draw(text, Seen(metrics, alarms, None), asked or Asked())


def test_each_widget_is_at_its_place_with_its_title(tmp_path: Path) -> None:
    one, other = counts(place=(0, 0, 12, 6)), counts(place=(12, 0, 12, 6))
    made = drawn(tmp_path, body(one, other))
    assert [(each["title"], each["place"]["x"]) for each in made["widgets"]] == [
        ("Accepted", 0),
        ("Accepted", 12),
    ]


def test_a_run_that_is_over_is_shown_whole_unless_a_range_is_chosen(tmp_path: Path) -> None:
    assert drawn(tmp_path, body())["range"] == "all"
    assert drawn(tmp_path, body(), Asked(range="5m"))["range"] == "5m"


def test_what_has_just_been_is_shown_of_a_platform_that_runs(tmp_path: Path) -> None:
    with store(tmp_path) as metrics:
        made = draw(body(), Seen(metrics, {}, BEGAN_MS + 200_000), Asked())
    assert (made["range"], made["end"]) == ("15m", BEGAN_MS + 200_000)


def test_the_chosen_tenant_is_drawn(tmp_path: Path) -> None:
    one = widget(
        title="TENANT_ID: accepted",
        period=60,
        metrics=[row(accepted("TENANT_ID"), stat="Sum", label="TENANT_ID")],
    )
    text = body(one, variables=[TENANT])
    for tenant, sum_ in (("acme", 120.0), ("globex", 60.0)):
        made = drawn(tmp_path / tenant, text, Asked(period="written", values={"tenant": tenant}))
        (shown,) = made["widgets"]
        assert shown["title"] == f"{tenant}: accepted"
        assert shown["lines"][0]["points"][0][1] == sum_
        assert made["variables"][0]["value"] == tenant


@pytest.fixture(autouse=True)
def _directories(tmp_path: Path) -> None:
    for name in ("acme", "globex"):
        (tmp_path / name).mkdir()


def test_a_text_is_html(tmp_path: Path) -> None:
    (shown,) = drawn(tmp_path, body(widget("text", markdown="# First\n<script>")))["widgets"]
    assert shown["html"].startswith('<h1 id="first">First</h1>')
    assert "<script>" not in shown["html"]


def test_alarms_are_shown_with_their_states_by_the_names_in_their_arns(tmp_path: Path) -> None:
    one = widget("alarm", title="Alarms", alarms=[ARN, ARN + "-2"], states=["ALARM"])
    (shown,) = drawn(tmp_path, body(one), None, **{RINGING.name: RINGING})["widgets"]
    assert [(each["name"], each["state"]) for each in shown["alarms"]] == [
        (RINGING.name, "ALARM"),
        (RINGING.name + "-2", "UNKNOWN"),
    ]
    assert (shown["alarms"][0]["description"], shown["states"]) == ("It fails.", ["ALARM"])


def test_a_widget_that_cannot_be_drawn_says_why_and_the_others_are_drawn(tmp_path: Path) -> None:
    wrong = widget(title="Wrong", metrics=[[{"expression": "NOSUCH(1)"}]])
    unknown = widget("explorer", title="Unknown")
    made = drawn(tmp_path, body(wrong, unknown, counts()))["widgets"]
    assert [each["kind"] for each in made] == ["fault", "fault", "metric"]
    assert "NOSUCH" in made[0]["fault"]
    assert "'explorer'" in made[1]["fault"]


@pytest.mark.parametrize(
    "odd",
    [
        {"period": 0},
        {"period": -60},
        {"yAxis": []},
        {"annotations": 1},
        {"metrics": 1},
        {"metrics": [7]},
    ],
)
def test_a_widget_of_an_odd_shape_takes_no_other_with_it(tmp_path: Path, odd: dict[str, Any]) -> None:
    service = {"type": "property", "property": "Service", "id": "service"}
    text = body(counts(**odd), counts(), variables=[service])
    made = drawn(tmp_path, text, Asked(values={"service": "ingest"}))
    assert [each["kind"] for each in made["widgets"]] == ["fault", "metric"]


@pytest.mark.parametrize("variables", [[{"type": "pattern", "pattern": "X"}], ["tenant"], 1])
def test_a_variable_of_an_odd_shape_is_refused(tmp_path: Path, variables: Any) -> None:
    with pytest.raises(BodyError, match="variable"):
        drawn(tmp_path, body(counts(), variables=variables))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "no list of widgets"),
        ('{"widgets": [{"type": "text"}]}', "widget 1"),
        (body(widget(place=(20, 0, 6, 6))), "not on the grid"),
        (body(widget(place=(0, 0, 0, 6))), "not on the grid"),
        (body(widget()).replace('"x": 0', '"x": 1e999'), "widget 1"),
    ],
)
def test_what_is_no_dashboard_is_refused(text: str, said: str) -> None:
    with pytest.raises(BodyError, match=said):
        parse(text)


def test_a_choice_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="range: '2m'; there are 5m, 15m"):
        Asked(range="2m")
    with pytest.raises(ValueError, match="period: '1s'; there are auto"):
        Asked(period="1s")
