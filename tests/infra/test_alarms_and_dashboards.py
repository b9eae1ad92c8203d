"""Alarms and dashboards: they watch resources of the program, and each ring for what they are there for.

That the metrics exist: tests/integration/test_no_dead_widgets.py. How dashboards look: test_dashboards.py.
"""

from collections.abc import Iterator

import pytest

from handlers.adapters.parking import pause_seconds
from handlers.domain.metric_catalogue import service_name
from infra import alarms
from infra.dashboards.tenant import ANY
from infra.naming import Names
from infra.widgets import references
from tests.infra.engine import Registered
from tests.infra.stages import previewed, run_stage, updated, with_tenants

ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
DASHBOARD = "aws:cloudwatch/dashboard:Dashboard"
NAMES = Names("dev")


def lines(body: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Every metric of a dashboard: namespace, name, those dimensions whose values are given."""
    for each in references(body):
        yield each.namespace, each.name, dict(each.dimensions)


def physical_names(kind: str, field: str = "name") -> set[str]:
    return {each.inputs[field] for each in previewed("dev").of_type(kind)}


def read_by(alarm: Registered) -> list[tuple[str, str, dict[str, str]]]:
    """Every metric that an alarm names: namespace, name, dimensions. None of one on all tenants, which asks
    for them (tests/infra/test_tenant_alarms.py)."""
    if "metricQueries" not in alarm.inputs:
        return [(alarm.inputs["namespace"], alarm.inputs["metricName"], alarm.inputs["dimensions"])]
    queries = [query["metric"] for query in alarm.inputs["metricQueries"] if "metric" in query]
    return [(each["namespace"], each["metricName"], each["dimensions"]) for each in queries]


def test_dimensions_name_resources_of_the_program() -> None:
    known = {
        "FunctionName": physical_names("aws:lambda/function:Function"),
        "QueueName": physical_names("aws:sqs/queue:Queue"),
        "TableName": physical_names("aws:dynamodb/table:Table"),
        "TopicName": physical_names("aws:sns/topic:Topic") | {NAMES.tenant(ANY)},
        "LogGroupName": physical_names("aws:cloudwatch/logGroup:LogGroup"),
        "ApiName": physical_names("aws:apigateway/restApi:RestApi"),
        "Stage": {"dev"},
        "EventBusName": physical_names("aws:cloudwatch/eventBus:EventBus"),
        "RuleName": physical_names("aws:cloudwatch/eventRule:EventRule"),
        "Service": {service_name("dev", name) for name in (*alarms.FUNCTIONS, "api")},
        "TenantId": {each.name for each in previewed("dev").of_type("onceward:index:Tenant")} | {ANY},
    }
    run = previewed("dev")
    named = [
        dimensions
        for each in run.of_type(DASHBOARD)
        for _, _, dimensions in lines(each.inputs["dashboardBody"])
    ]
    named += [
        dimensions
        for each in run.of_type(ALARM)
        if "given-up" not in each.name
        for _, _, dimensions in read_by(each)
    ]
    for dimensions in named:
        for key, value in dimensions.items():
            assert value in known[key], f"{key}={value}"


@pytest.mark.parametrize(
    "watched",
    [
        "dispatch-dlq-depth",
        "delivery-dlq-depth",
        "stream-iterator-age",
        "dispatch-conflict",
        "dispatch-parked",
        "dispatch-failures-lost",
        "dispatch-retry-age",
        "dispatch-given-up",
        "api-5xx",
        "api-latency",
        *(f"{queue}-{kind}" for queue in ("orders", "webhooks") for kind in ("dlq-depth", "age")),
        *("notify-dlq-depth", "bus-failed-deliveries", "bus-sent-to-dlq", "bus-events-lost"),
        *("pending-too-old", "reconcile-not-called", "effect-unknown", "lookup-impossible"),
        *("deliver-given-up", "fulfil-given-up", "reconcile-given-up"),
        *(f"{name}-{kind}" for name in alarms.FUNCTIONS for kind in ("failed", "errors", "throttles")),
        *(f"{name}-{kind}-throttles" for name in alarms.TABLES for kind in ("read", "write")),
    ],
)
def test_the_platform_rings_for(watched: str) -> None:
    alarm = updated("prod").one(ALARM, f"alarm-{watched}").inputs
    assert alarm["name"] == f"onceward-prod_{watched}"
    assert alarm["treatMissingData"] == "notBreaching"
    assert alarm["comparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert alarm["threshold"] > 0
    if "metricQueries" in alarm:
        assert {each["metric"]["period"] for each in alarm["metricQueries"] if "metric" in each} == {300}
        return
    # CloudWatch: a period is a whole number of minutes, and an alarm looks back a day at most.
    assert alarm["period"] % 60 == 0
    assert alarm["period"] * alarm["evaluationPeriods"] <= 86_400
    assert ("statistic" in alarm) != ("extendedStatistic" in alarm)


def watched_by(stage: str) -> set[tuple[str, str, frozenset[tuple[str, str]]]]:
    """Namespace, name and dimensions of every metric that a stage's alarms and dashboards read."""
    run = updated(stage)
    # The mapping's id is AWS's own, one for each mapping; here it is the same made-up text for all.
    found = [line for each in run.of_type(ALARM) if "given-up" not in each.name for line in read_by(each)]
    found += [line for each in run.of_type(DASHBOARD) for line in lines(each.inputs["dashboardBody"])]
    return {(namespace, name, frozenset(dimensions.items())) for namespace, name, dimensions in found}


def test_two_stages_of_one_account_never_watch_the_same_metric() -> None:
    assert any(namespace == "Onceward" for namespace, _, _ in watched_by("dev"))
    assert not watched_by("dev") & watched_by("prod")


def test_a_poison_receipt_rings_though_sqs_leaves_it_out_of_its_age() -> None:
    alarm = updated("prod").one(ALARM, "alarm-dispatch-parked")
    ((namespace, name, _),) = read_by(alarm)
    assert (namespace, name) == ("Onceward", "DispatchParked")
    assert (alarm.inputs["threshold"], alarm.inputs["evaluationPeriods"]) == (1, 1)


def test_a_receipt_that_is_tried_again_and_again_never_looks_like_one_that_nobody_takes() -> None:
    age = updated("prod").one(ALARM, "alarm-dispatch-retry-age").inputs["threshold"]
    # SQS counts the age of a message until it has been received more than three times.
    assert sum(pause_seconds(receives) for receives in (1, 2, 3)) < age


def test_what_anybody_can_make_the_authorizer_do_rings_only_as_a_flood() -> None:
    run = updated("prod")
    raised, failed = (run.one(ALARM, f"alarm-authorizer-{kind}") for kind in ("errors", "failed"))
    ((namespace, name, _),) = read_by(failed)
    assert (namespace, name, failed.inputs["threshold"]) == ("Onceward", "Failed", 1)
    assert raised.inputs["threshold"] * raised.inputs["evaluationPeriods"] >= 1_000
    assert run.one(ALARM, "alarm-ingest-errors").inputs["threshold"] == 1


def test_a_percentile_of_a_quiet_api_is_evaluated_too() -> None:
    alarm = updated("prod").one(ALARM, "alarm-api-latency").inputs
    assert alarm["evaluateLowSampleCountPercentiles"] == "evaluate"
    assert alarm["extendedStatistic"] == "p95"


def test_a_person_is_told_where_the_stage_names_one() -> None:
    topic = "aws:sns/topicSubscription:TopicSubscription"
    told = run_stage("prod", alarmEmail="ops@example.com").one(topic, "alarms-email").inputs
    assert (told["protocol"], told["endpoint"]) == ("email", "ops@example.com")
    assert not [each for each in previewed("prod").of_type(topic) if each.name == "alarms-email"]


def test_a_stage_whose_alarms_reach_nobody_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    run_stage("prod", with_tenants([]))
    assert "onceward:alarmEmail is not set" in capsys.readouterr().err
    run_stage("prod", with_tenants([]), alarmEmail="ops@example.com")
    run_stage("local", with_tenants([]))
    assert "alarmEmail" not in capsys.readouterr().err
