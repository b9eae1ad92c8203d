"""No dead widgets: what dashboards and alarms read is emitted, and what is emitted is on a dashboard.

Emitted means that the real functions, run through every outcome, have printed it; that a metric filter of the
program makes it; or that AWS publishes it.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import pytest

from handlers.domain import metric_catalogue
from handlers.domain.metric_catalogue import API, IN_DETAIL, NAMESPACE, service_name
from infra import widgets
from infra.access_log import metric_filters
from infra.widgets import MetricReference
from tests.emitting.aws_metrics import PUBLISHED
from tests.emitting.everything import everything
from tests.emitting.heard import Series, from_access_log
from tests.infra.stages import STAGES, updated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.infra.engine import Registered

ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
DASHBOARD = "aws:cloudwatch/dashboard:Dashboard"


@functools.cache
def emitted() -> frozenset[Series]:
    """Everything of our own that is emitted."""
    by_functions = {series for heard in everything().values() for series in heard.series()}
    by_filters = {
        Series(NAMESPACE, API, each.metric, frozenset(each.dimensions), "Count")
        for each in metric_filters(["acme"])
    }
    return frozenset(by_functions | by_filters)


def function_of(reference: MetricReference, stage: str) -> str | None:
    """Whose metric a reference reads; None for whichever has it."""
    service = dict(reference.dimensions).get("Service")
    return None if service is None else service.removeprefix(service_name(stage, ""))


def reads(reference: MetricReference, series: Series, stage: str) -> bool:
    """Whether a reference reads a metric of the series."""
    return (
        (reference.namespace, reference.name) == (series.namespace, series.name)
        and reference.dimension_names == series.dimensions
        and function_of(reference, stage) in (None, series.function)
    )


def is_dead(reference: MetricReference, stage: str, ours: frozenset[Series]) -> bool:
    """Whether nobody emits what a reference reads."""
    if reference.namespace == NAMESPACE:
        return not any(reads(reference, series, stage) for series in ours)
    place = (reference.namespace, reference.dimension_names)
    return reference.name not in PUBLISHED.get(place, ())


def unseen(references: frozenset[MetricReference], stage: str, ours: frozenset[Series]) -> set[Series]:
    """The series that no dashboard shows."""
    return {series for series in ours if not any(reads(each, series, stage) for each in references)}


def bodies(stage: str) -> list[str]:
    """The dashboards of a stage as they are registered."""
    return [each.inputs["dashboardBody"] for each in updated(stage).of_type(DASHBOARD)]


def shown_in(found: list[str]) -> frozenset[MetricReference]:
    """What dashboards read."""
    return frozenset(reference for body in found for reference in widgets.references(body))


@functools.cache
def shown(stage: str) -> frozenset[MetricReference]:
    """What the dashboards of a stage read."""
    return shown_in(bodies(stage))


def watched(alarm: Registered) -> Iterator[MetricReference]:
    """What an alarm reads."""
    queries = alarm.inputs.get("metricQueries", [])
    for query in queries:
        if query.get("expression", "").startswith("SELECT "):
            yield from widgets.in_expression(query["expression"])
    for metric in [query["metric"] for query in queries if "metric" in query] or (
        [] if queries else [alarm.inputs]
    ):
        dimensions = tuple(sorted(metric.get("dimensions", {}).items()))
        statistic = metric.get("stat") or metric.get("statistic") or metric["extendedStatistic"]
        names = frozenset(name for name, _ in dimensions)
        yield MetricReference(metric["namespace"], metric["metricName"], names, dimensions, statistic)


@pytest.mark.parametrize("stage", STAGES)
def test_every_widget_shows_what_somebody_emits(stage: str) -> None:
    assert {each for each in shown(stage) if is_dead(each, stage, emitted())} == set()
    assert len(shown(stage)) > 50


@pytest.mark.parametrize("stage", STAGES)
def test_every_alarm_watches_what_somebody_emits(stage: str) -> None:
    alarms = updated(stage).of_type(ALARM)
    assert [each.name for each in alarms if not list(watched(each))] == []
    dead = {each.name: [one for one in watched(each) if is_dead(one, stage, emitted())] for each in alarms}
    assert {name: found for name, found in dead.items() if found} == {}


@pytest.mark.parametrize("stage", STAGES)
def test_everything_that_is_emitted_is_on_a_dashboard(stage: str) -> None:
    assert unseen(shown(stage), stage, emitted()) == set()


def test_what_filters_make_is_what_the_catalogue_says() -> None:
    assert {each for each in emitted() if each.function == API} == from_access_log()


def test_every_series_is_some_function_s_or_the_access_log_s() -> None:
    assert {each.function for each in emitted()} == {*metric_catalogue.BY_FUNCTION, API}
    assert any(each.dimensions == frozenset(IN_DETAIL) for each in emitted())


# What follows renames one thing at a time: each has to be noticed.


@pytest.mark.parametrize("changed", ["name", "function", "namespace"])
def test_a_metric_that_is_renamed_leaves_dead_widgets_and_is_missing_on_dashboards(changed: str) -> None:
    was = next(each for each in sorted(emitted()) if each.name == "Accepted" and len(each.dimensions) == 1)
    now = Series(**{**was._asdict(), changed: "Renamed"})
    ours = emitted() - {was} | {now}
    assert any(is_dead(each, "dev", ours) for each in shown("dev"))
    assert unseen(shown("dev"), "dev", ours) == {now}


def test_a_dimension_that_is_renamed_leaves_dead_widgets_and_is_missing_on_dashboards() -> None:
    renamed = {"TenantId": "Tenant"}
    ours = frozenset(
        each._replace(dimensions=frozenset(renamed.get(name, name) for name in each.dimensions))
        for each in emitted()
    )
    dead = {each for each in shown("dev") if is_dead(each, "dev", ours)}
    assert {each.namespace for each in dead} == {NAMESPACE}
    assert all("TenantId" in each.dimension_names for each in dead)
    assert unseen(shown("dev"), "dev", ours) == ours - emitted()


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("Accepted", "Acepted"),
        ("TenantId", "Tenant"),
        ("Service", "Function"),
        ("QueueName", "Queue"),
        ("IteratorAge", "IteratorAges"),
        ("Onceward", "Once"),
    ],
)
def test_a_widget_that_is_renamed_is_dead(was: str, now: str) -> None:
    changed = [body.replace(was, now) for body in bodies("dev")]
    assert changed != bodies("dev")
    assert any(is_dead(each, "dev", emitted()) for each in shown_in(changed))


def test_an_alarm_that_is_renamed_is_dead() -> None:
    for name in ("alarm-ingest-failed", "alarm-dispatch-dlq-depth"):
        alarm = updated("dev").one(ALARM, name)
        (reference,) = watched(alarm)
        other = MetricReference(**{**vars_of(reference), "name": f"{reference.name}s"})
        assert not is_dead(reference, "dev", emitted())
        assert is_dead(other, "dev", emitted())


def test_another_stages_metrics_are_nobodys_here() -> None:
    reference = next(each for each in shown("dev") if ("Service", "onceward-dev_ingest") in each.dimensions)
    assert is_dead(reference, "prod", emitted())


def test_a_metric_without_a_widget_is_noticed() -> None:
    (platform,) = [body for body in bodies("dev") if '"IteratorAge"' in body]
    document: dict[str, Any] = json.loads(platform)
    document["widgets"] = document["widgets"][:3]
    fewer = [json.dumps(document), *(body for body in bodies("dev") if body != platform)]
    assert unseen(shown_in(fewer), "dev", emitted())


def vars_of(reference: MetricReference) -> dict[str, Any]:
    """The fields of a reference."""
    return {name: getattr(reference, name) for name in reference.__dataclass_fields__}
