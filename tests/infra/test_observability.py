"""What `onceward cost` counts of metrics, dashboards and alarms is what the program registers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pulumi
import pytest

from handlers.domain import metric_catalogue as catalogue
from infra import access_log, prices
from infra.naming import Names
from infra.observability import Observability
from infra.observed import of_platform, of_stage, of_tenant, told
from ops.costs import counted
from tests.infra.stages import run_stage, sample_tenants, settings_of, tenant, updated, with_tenants

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tenants.models import Tenant
    from tests.infra.engine import Run

NAMES = Names("dev")
# Without its quotation marks: names may have them or not.
_SELECT = re.compile(r"SELECT \w+\((\w+)\) FROM SCHEMA\(([^,]+), ([^)]+)\) WHERE (.*) GROUP BY")
_CONDITION = re.compile(r"(\w+) (!?=) '([^']*)'")
_ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"

Series = tuple[str, str, dict[str, str]]
"""Namespace, name, dimensions."""


def series_of(tenants: Iterable[Tenant]) -> list[Series]:
    """Every series that tenants have of their own, by the catalogue; and of SNS what each topic has."""
    found: list[Series] = []
    for each in tenants:
        names = [(function, name) for function, few in catalogue.PER_TENANT.items() for name in few]
        names += [
            (catalogue.API, it.name) for it in catalogue.ACCESS_LOG if catalogue.OF_TENANT in it.dimensions
        ]
        for function, name in names:
            service = catalogue.service_name("dev", function)
            found.append((catalogue.NAMESPACE, name, {"Service": service, "TenantId": each.id}))
        found.append(("AWS/SNS", "NumberOfNotificationsFailed", {"TopicName": NAMES.tenant(each.id)}))
    return [*found, ("AWS/SNS", "NumberOfNotificationsFailed", {"TopicName": NAMES.platform("alarms")})]


def analysed(query: str, series: Iterable[Series]) -> int:
    """How many series a Metrics Insights query looks at."""
    found = _SELECT.match(query.replace('"', ""))
    assert found is not None, query
    name, namespace, dimensions, where = found.groups()
    conditions = _CONDITION.findall(where)
    assert " AND ".join(f"{d} {how} '{value}'" for d, how, value in conditions) == where
    return sum(
        (namespace, name, set(dimensions.split(", "))) == (its_namespace, its_name, set(its_dimensions))
        and all((its_dimensions[d] == value) is (how == "=") for d, how, value in conditions)
        for its_namespace, its_name, its_dimensions in series
    )


def registered(run: Run, tenants: Iterable[Tenant]) -> Observability:
    """What a run of the program registered; no series, which nobody registers."""
    series, watched, queried = series_of(tenants), 0, 0
    for alarm in run.of_type(_ALARM):
        queries: list[dict[str, Any]] = alarm.inputs.get("metricQueries") or []
        selects = [each["expression"] for each in queries if "SELECT" in (each.get("expression") or "")]
        queried += sum(analysed(query, series) for query in selects)
        watched += sum("metric" in each for each in queries) if queries else 1
    functions = [
        i for i in run.of_type("aws:apigateway/integration:Integration") if i.inputs["type"] != "MOCK"
    ]
    [general] = [
        m for m in run.of_type("aws:apigateway/methodSettings:MethodSettings") if m.name == "method-settings"
    ]
    assert general.inputs["settings"]["metricsEnabled"] is True
    return Observability(
        # Calls, 4xx, 5xx, latency, latency of the function (API Gateway's guide, "dimensions and metrics").
        method_metrics=5 * len(functions),
        dashboards=len(run.of_type("aws:cloudwatch/dashboard:Dashboard")),
        alarm_metrics=watched,
        analysed=queried,
        composites=len(run.of_type("aws:cloudwatch/compositeAlarm:CompositeAlarm")),
    )


SOME = {
    "nobody": [],
    "shared": [tenant("anna", dashboard="shared"), tenant("bert", dashboard="shared")],
    "dedicated": [tenant("anna"), tenant("bert", metrics="detailed")],
    "without alarms": [tenant("anna", alarms={"enabled": False}), tenant("bert", dashboard="shared")],
}


@pytest.mark.parametrize(("kind", "all_topics"), [*((kind, False) for kind in SOME), ("shared", True)])
def test_what_is_counted_is_what_is_registered(kind: str, *, all_topics: bool) -> None:
    tenants = SOME[kind]
    run = run_stage("dev", with_tenants(tenants), watchAllTopics=all_topics)
    told_of = of_stage(NAMES, tenants, all_topics=all_topics)
    assert registered(run, tenants) == replace(told_of, series=0)


def test_an_alarm_and_a_dashboard_more_are_noticed() -> None:
    tenants = SOME["shared"]
    run = run_stage("dev", with_tenants(tenants))
    before = registered(run, tenants)
    for kind in (_ALARM, "aws:cloudwatch/dashboard:Dashboard"):
        run.resources[f"another {kind}"] = run.of_type(kind)[0]
    after = registered(run, tenants)
    assert (after.dashboards, after.alarm_metrics > before.alarm_metrics) == (before.dashboards + 1, True)


def test_a_query_sees_the_tenants_that_it_does_not_leave_out() -> None:
    query = (
        'SELECT AVG(Failed) FROM SCHEMA("Onceward", Service, TenantId) '
        "WHERE Service = 'onceward-dev_ingest' AND TenantId != 'bert' GROUP BY TenantId ORDER BY AVG() DESC"
    )
    series = series_of([tenant("anna"), tenant("bert"), tenant("carl")])
    assert analysed(query, series) == 2
    assert analysed(query.replace("Failed", "Falied"), series) == 0
    assert analysed(query.replace("_ingest", "_digest"), series) == 0


def test_a_tenants_series_are_those_of_the_catalogue() -> None:
    one = tenant("anna", dashboard="shared")
    of_one = [name for namespace, name, _ in series_of([one]) if namespace == catalogue.NAMESPACE]
    assert of_tenant(one, NAMES).series == len(of_one)


def test_the_metrics_of_a_thousand_tenants_have_a_lower_price_than_a_thousand_times_one() -> None:
    one = of_tenant(tenant("anna", dashboard="shared"), NAMES)
    platform = of_platform(NAMES)
    thousand = (platform + one.times(1_000)).usd - platform.usd
    assert 0 < thousand < 1_000 * ((platform + one).usd - platform.usd)
    assert platform.series < 10_000 < platform.series + one.times(1_000).series  # so a tier is crossed


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_an_update_says_what_its_observability_costs(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "info", lambda text, *_: said.append(text))
    tenants = sample_tenants(stage).tenants
    run_stage(stage)
    all_topics = settings_of(stage).watch_all_topics
    assert told(Names(stage), tenants, all_topics=all_topics) in said
    dollars = of_stage(Names(stage), tenants, all_topics=all_topics).usd
    assert f"${dollars:,.2f} a month" in said[-1]
    assert f"{len(tenants):,} tenants" in said[-1]
    assert str(prices.READ_ON) in said[-1]


def test_locally_nothing_is_charged_and_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "info", lambda text, *_: said.append(text))
    run_stage("local", with_tenants([]))
    assert [text for text in said if "$" in text] == []


def test_functions_and_queues_are_what_requests_are_priced_with() -> None:
    run = updated("prod")
    memory = {each.inputs["memorySize"] for each in run.of_type("aws:lambda/function:Function")}
    assert memory == {counted.MEMORY_MB}
    mappings = run.of_type("aws:lambda/eventSourceMapping:EventSourceMapping")
    polled = [each for each in mappings if not each.inputs.get("startingPosition")]
    assert len(polled) == counted.TAKEN_QUEUES


_VALUES = {
    "$context.requestId": "3f0c8a52-6f0e-4b8e-9f64-2f1f6f0a77b1",
    "$context.xrayTraceId": "1-5e34a614-10bdc5f31fb44f07bc535a1b",
    "$context.authorizer.tenantId": "acme-industries",
    "$context.authorizer.keyName": "server",
    "$context.requestTimeEpoch": "1796000000000",
    "$context.httpMethod": "POST",
    "$context.resourcePath": "/v1/appointments",
    "$context.status": "201",
    "$context.responseLatency": "123",
    "$context.integrationLatency": "101",
    "$context.authorizer.latency": "12",
    "$context.integrationStatus": "201",
    "$context.error.responseType": "-",
    "$context.responseLength": "312",
    "$context.identity.sourceIp": "203.0.113.195",
}


def test_a_line_of_the_access_log_is_as_long_as_priced() -> None:
    line = access_log.line(Names("prod"))
    unknown = {value for value in line.values() if value.startswith("$") and value not in _VALUES}
    assert unknown == set()
    text = ", ".join(f'"{name}": "{_VALUES.get(value, value)}"' for name, value in line.items())
    assert abs(len(text) + 2 - counted.ACCESS_LOG_BYTES) <= 50
