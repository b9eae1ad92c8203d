"""The dashboards as the program registers them: readable, true to the alarms, the same text every time."""

import os
import re
import subprocess
import sys
from typing import Any

import pytest

from infra.alarm import Alarm
from infra.alarms import platform_alarms
from infra.dashboards.first_steps import FIRST_QUERY
from infra.dashboards.tenant import ANY
from infra.expressions import in_expression
from infra.log_queries import log_queries
from infra.naming import Names
from infra.program import REPOSITORY
from tests.infra.dashboard_bodies import (
    ANY_TENANT,
    PLATFORM,
    bodies,
    metric_widgets,
    thresholds,
    titled,
    widgets,
)
from tests.infra.stages import STAGES, previewed, run_stage, tenant, updated, with_tenants
from tests.infra.test_runbook import PAGE, sections
from tests.infra.test_runbook_commands import commands, refusal

ALARMS = {
    "aws:cloudwatch/metricAlarm:MetricAlarm": "name",
    "aws:cloudwatch/compositeAlarm:CompositeAlarm": "alarmName",
}
NAMES = Names("dev")
# CloudWatch's most (its API reference, "Dashboard Body Structure and Syntax", and its guide, "CloudWatch
# service quotas": the metrics that only maths needs count too).
MOST_WIDGETS = 500
MOST_METRICS = 2_500
# How many lines one query finds, amply: ours stop at ten tenants, and there are five operations.
FOUND = 10
GRID = 24
PRINTING = """
from infra import dashboards
from infra.alarms import every_alarm
from infra.composites import platform_down, troubles
from infra.naming import Arns, Location, Names
from infra.tenant_alarms import tenant_rules
from tenants.models import Tenant

names = Names("dev")
place = dashboards.Place(Arns(Location("aws", "123456789012", "eu-west-1"), names), "docs/runbook.md")
rules = tenant_rules(names)
bee = Tenant.model_validate(
    dict(id="bee", name="Bee", tier="pro", stages=("dev",), keys=("server",), metrics="detailed")
)
print(dashboards.platform_body(place, every_alarm(names), (platform_down(), *troubles())))
print(dashboards.any_tenant_body(place, rules, 2), dashboards.tenant_body(bee, place, rules))
"""


@pytest.fixture(params=STAGES)
def every_body(request: pytest.FixtureRequest) -> dict[str, str]:
    return bodies(updated(request.param))


def test_a_stage_has_one_for_the_platform_one_for_any_tenant_and_those_that_tenants_ask_for() -> None:
    run = run_stage("dev", with_tenants([tenant("bee"), tenant("cow", dashboard="shared")]))
    assert set(bodies(run)) == {PLATFORM, ANY_TENANT, "onceward-dev-bee"}


def test_what_to_do_first_stands_on_top_and_what_rings_beside_it(every_body: dict[str, str]) -> None:
    for name, body in every_body.items():
        text, alarms = widgets(body)[:2]
        assert text["properties"]["markdown"].startswith("# "), name
        assert "what to do first" in text["properties"]["markdown"].lower()
        assert (alarms["type"], alarms["y"], text["y"]) == ("alarm", 0, 0)


def test_every_widget_has_a_title_units_and_a_region(every_body: dict[str, str]) -> None:
    for body in every_body.values():
        for widget in widgets(body):
            properties = widget["properties"]
            if widget["type"] == "text":
                assert properties["markdown"].startswith("#")
                continue
            assert properties["title"].strip()
            if widget["type"] == "metric":
                assert properties["region"] == "eu-west-1"
                assert all(axis["label"] and not axis["showUnits"] for axis in properties["yAxis"].values())
                assert not any("{" in axis["label"] for axis in properties["yAxis"].values())


def test_titles_and_labels_tell_widgets_and_lines_apart(every_body: dict[str, str]) -> None:
    for name, body in every_body.items():
        titles = [each["properties"]["title"] for each in metric_widgets(body)]
        assert len(titles) == len(set(titles)), name
        for widget in metric_widgets(body):
            shown = [row[-1] for row in widget["properties"]["metrics"] if row[-1].get("visible", True)]
            labels = [row["label"] for row in shown if "expression" not in row]
            assert len(labels) == len(set(labels)), widget["properties"]["title"]


def misplaced(placed: list[dict[str, Any]]) -> list[str]:
    """What is wrong with the places of widgets: beside the grid, on another, or with a hole beside them."""
    taken: set[tuple[int, int]] = set()
    faults = []
    for each in placed:
        columns, rows = (
            range(each[at], each[at] + each[size]) for at, size in (("x", "width"), ("y", "height"))
        )
        cells = {(x, y) for x in columns for y in rows}
        faults += ["beside the grid"] if max(columns) >= GRID else []
        faults += ["on another"] if cells & taken else []
        taken |= cells
    whole = GRID * (1 + max(y for _, y in taken))
    return faults + (["a hole"] if len(taken) < whole else [])


def test_no_widget_lies_on_another_or_beside_the_grid_and_there_is_no_hole(
    every_body: dict[str, str],
) -> None:
    for body in every_body.values():
        assert misplaced(widgets(body)) == []
        assert len(widgets(body)) <= MOST_WIDGETS


@pytest.mark.parametrize(
    ("changed", "fault"),
    [({"x": 11}, "on another"), ({"width": 13}, "beside the grid"), ({"height": 7}, "a hole")],
)
def test_a_widget_in_a_wrong_place_is_found(changed: dict[str, int], fault: str) -> None:
    found = widgets(bodies(updated("dev"))[PLATFORM])
    assert (found[1]["x"], found[1]["width"], found[1]["height"]) == (12, 12, 8)
    found[1] |= changed
    assert fault in misplaced(found)


def test_a_widget_is_within_what_cloudwatch_takes(every_body: dict[str, str]) -> None:
    for body in every_body.values():
        for widget in metric_widgets(body):
            properties = widget["properties"]
            rows = properties["metrics"]
            ids = [row[-1]["id"] for row in rows if "id" in row[-1]]
            assert len(ids) == len(set(ids))
            assert all(re.fullmatch("[a-z][A-Za-z0-9_]*", each) for each in ids)
            # "One metrics array can include no more than one Metrics Insights query."
            assert sum(row[-1].get("expression", "").startswith("SELECT") for row in rows) <= 1
            assert properties["period"] % 60 == 0
            assert all("stat" in row[-1] for row in rows if "expression" not in row[-1])
            assert not any("period" in row[-1] for row in rows)


def test_a_dashboard_has_no_more_metrics_than_cloudwatch_takes(every_body: dict[str, str]) -> None:
    for body in every_body.values():
        rows = [
            row[-1].get("expression", "")
            for each in metric_widgets(body)
            for row in each["properties"]["metrics"]
        ]
        ranked = sum(row.startswith("SELECT") for row in rows)
        found = sum(len(in_expression(row)) for row in rows if row.startswith("SEARCH"))
        assert rows.count("") + FOUND * (ranked + found) <= MOST_METRICS


def test_a_line_on_the_right_has_an_axis_there_and_every_graph_has_a_line_on_the_left(
    every_body: dict[str, str],
) -> None:
    for body in every_body.values():
        for widget in metric_widgets(body):
            properties = widget["properties"]
            sides = {
                row[-1].get("yAxis", "left") for row in properties["metrics"] if row[-1].get("visible", True)
            }
            assert sides == set(properties["yAxis"]), properties["title"]


@pytest.mark.parametrize("stage", STAGES)
def test_the_alarms_shown_are_those_that_there_are(stage: str) -> None:
    run = updated(stage)
    there = {
        f"arn:aws:cloudwatch:eu-west-1:123456789012:alarm:{each.inputs[name]}"
        for kind, name in ALARMS.items()
        for each in run.of_type(kind)
    }
    shown = {
        arn
        for body in bodies(run).values()
        for widget in widgets(body)
        if widget["type"] == "alarm"
        for arn in widget["properties"]["alarms"]
    }
    assert shown == there


def without_a_line(placed: list[dict[str, Any]], stage: str) -> set[str]:
    """The alarms on one metric that are on no graph of it, at the height where they ring."""
    drawn = {
        (tuple(row[:-1]), row[-1]["stat"], value)
        for widget in placed
        for row in widget["properties"].get("metrics", [])
        if "stat" in row[-1]
        for value in thresholds(widget["properties"]).values()
    }
    return {
        alarm.name
        for alarm in platform_alarms(Names(stage))
        if not alarm.plus and (_row(alarm), alarm.metric.statistic, alarm.threshold) not in drawn
    }


def test_every_alarm_is_a_line_at_the_height_where_it_rings() -> None:
    body = bodies(updated("prod"))["onceward-prod_platform"]
    assert without_a_line(widgets(body), "prod") == set()


def test_an_alarm_without_a_line_or_at_another_height_is_found() -> None:
    body = bodies(updated("prod"))["onceward-prod_platform"]
    fewer = [
        each for each in widgets(body) if each["properties"].get("title") != "Dispatch behind the stream"
    ]
    assert without_a_line(fewer, "prod") == {"stream-iterator-age", "dispatch-failures-lost"}
    assert "api-latency" in without_a_line(widgets(body.replace('"value":2000', '"value":2001')), "prod")


def _row(alarm: Alarm) -> tuple[str, ...]:
    parts = [part for pair in alarm.metric.dimensions for part in pair]
    return (alarm.metric.namespace, alarm.metric.name, *parts)


def test_the_platforms_alarms_on_sums_are_drawn_too() -> None:
    body = bodies(updated("prod"))["onceward-prod_platform"]
    assert thresholds(titled(body, "Ours: failed, by function"))["alarm: requests-failing (and 50 %)"] == 10
    assert thresholds(titled(body, "Time of a request, as callers see it")) == {"alarm: api-latency": 2_000}
    assert titled(body, "Ours: answered with 5xx by the API")["period"] == 300


def test_a_dashboard_is_the_same_text_in_every_run() -> None:
    for stage in STAGES:
        assert bodies(previewed(stage)) == bodies(updated(stage))
    texts = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PRINTING],
            cwd=REPOSITORY,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }
    (text,) = texts
    assert "Failing most" in text
    assert "by operation" in text


def test_topics_are_ranked_where_all_of_the_account_are_the_stages_own() -> None:
    title = "Events that reach no subscriber, by topic"
    alone = bodies(run_stage("dev", with_tenants([]), watchAllTopics=True))[PLATFORM]
    lines = thresholds(titled(alone, title))
    assert lines == {"alarm: tenants-deliveries": 1, "alarm: delivery-dlq-depth": 1}
    assert title not in bodies(run_stage("dev", with_tenants([]), watchAllTopics=False))[PLATFORM]


def test_every_command_of_the_texts_can_be_typed() -> None:
    text = "\n".join(
        widget["properties"]["markdown"]
        for body in bodies(updated("prod")).values()
        for widget in widgets(body)
        if widget["type"] == "text"
    )
    found = set(commands(text.replace(ANY, "TENANT")))
    assert len(found) > 5
    for command in found:
        why = refusal(command.replace("QUEUE", "orders-dlq"))
        # Some are only named, without what they take.
        assert why is None or why.startswith("Missing parameter"), command


def test_the_texts_link_to_the_runbook_and_name_a_query_that_is_saved() -> None:
    page = "https://git.example.com/onceward/docs/runbook.md"
    run = run_stage("dev", with_tenants([tenant("bee")]), runbookUrl=page)
    for name, body in bodies(run).items():
        links = re.findall(rf"{re.escape(page)}#([a-z-]+)", body)
        assert links, name
        assert set(links) <= set(sections(PAGE)), name
    assert "docs/runbook.md#platform-down" in bodies(updated("dev"))[PLATFORM]
    assert FIRST_QUERY in {each.title for each in log_queries(NAMES)}
