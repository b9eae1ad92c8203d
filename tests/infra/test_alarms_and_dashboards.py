"""Alarms and dashboards: they watch metrics that exist, under the names and dimensions they have."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from handlers.adapters.parking import pause_seconds
from handlers.domain.metric_catalogue import service_name
from infra import alarms, dashboards
from infra.naming import Names
from infra.program import REPOSITORY
from tests.infra.engine import Registered
from tests.infra.stages import STAGES, previewed, run_stage, updated, with_tenants

ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
DASHBOARD = "aws:cloudwatch/dashboard:Dashboard"
NAMES = Names("dev")

OF_RULE = {
    *("Invocations", "FailedInvocations"),
    *("InvocationsSentToDlq", "InvocationsFailedToBeSentToDlq"),
}
# What AWS documents: namespace -> the dimensions that its metrics below have, and the metrics.
EMITTED: dict[str, list[tuple[set[str], set[str]]]] = {
    "AWS/ApiGateway": [({"ApiName", "Stage"}, {"Count", "4XXError", "5XXError", "Latency"})],
    "AWS/DynamoDB": [({"TableName"}, {"ReadThrottleEvents", "WriteThrottleEvents"})],
    "AWS/Events": [
        ({"EventBusName", "RuleName"}, OF_RULE),  # of a bus of one's own
        ({"RuleName"}, OF_RULE),  # of the default bus
    ],
    "AWS/Lambda": [
        (
            {"FunctionName"},
            {"Invocations", "Errors", "Throttles", "IteratorAge", "DestinationDeliveryFailures"},
        ),
        ({"EventSourceMappingUUID"}, {"OnFailureDestinationDeliveredEventCount"}),
    ],
    "AWS/SNS": [
        (
            {"TopicName"},
            {"NumberOfMessagesPublished", "NumberOfNotificationsDelivered", "NumberOfNotificationsFailed"},
        )
    ],
    "AWS/SQS": [({"QueueName"}, {"ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"})],
    "Onceward": [
        (
            {"Service"},
            {
                *("Accepted", "Replayed", "InProgress", "Mismatch", "Rejected", "Failed"),
                *("RequestLatency", "StoreLatency"),
                *("Dispatched", "DispatchLag", "DispatchParked", "DispatchConflict", "DispatchFailed"),
                *("EffectUnknown", "LookupImpossible", "LeaseLost", "EffectOrphaned", "SeveralCharges"),
                *("Delivered", "DeliveryFailed", "Completed", "FulfilmentFailed"),
                *("WorkBroke", "WorkGivenUp", "Notified", "NotifyFailed"),
                *("PendingWork", "PendingOldestAge", "Requeued", "ReconcileFailed"),
            },
        ),
        (
            {"Service", "TenantId"},
            {"Accepted", "Replayed", "Failed", "Throttled", "WorkGivenUp", "DispatchParked"},
        ),
    ],
}


def test_what_is_said_to_be_ours_is_a_word_of_the_functions() -> None:
    code = "".join(path.read_text() for path in (REPOSITORY / "handlers").rglob("*.py"))
    ours = {name for _, names in EMITTED["Onceward"] for name in names}
    assert {name for name in ours if f'"{name}"' not in code} == set()


def exists(namespace: str, name: str, dimensions: set[str]) -> bool:
    return any(dimensions == has and name in metrics for has, metrics in EMITTED[namespace])


def widgets(body: str) -> Iterator[dict[str, Any]]:
    yield from json.loads(body)["widgets"]


def lines(body: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Every metric of a dashboard: namespace, name, dimensions."""
    for widget in widgets(body):
        for namespace, name, *dimensions, _options in widget["properties"]["metrics"]:
            yield namespace, name, dict(zip(dimensions[::2], dimensions[1::2], strict=True))


def every_dashboard() -> list[Registered]:
    return [each for stage in STAGES for each in previewed(stage).of_type(DASHBOARD)]


def physical_names(kind: str, field: str = "name") -> set[str]:
    return {each.inputs[field] for each in previewed("dev").of_type(kind)}


def read_by(alarm: Registered) -> list[tuple[str, str, dict[str, str]]]:
    """Every metric that an alarm names: namespace, name, dimensions. None of one on all tenants, which asks
    for them (tests/infra/test_tenant_alarms.py)."""
    if "metricQueries" not in alarm.inputs:
        return [(alarm.inputs["namespace"], alarm.inputs["metricName"], alarm.inputs["dimensions"])]
    queries = [query["metric"] for query in alarm.inputs["metricQueries"] if "metric" in query]
    return [(each["namespace"], each["metricName"], each["dimensions"]) for each in queries]


def test_every_alarm_watches_a_metric_that_is_emitted() -> None:
    for each in updated("dev").of_type(ALARM):
        for namespace, name, dimensions in read_by(each):
            assert exists(namespace, name, set(dimensions)), each.name


def test_every_widget_shows_metrics_that_are_emitted() -> None:
    for each in every_dashboard():
        for namespace, name, dimensions in lines(each.inputs["dashboardBody"]):
            assert exists(namespace, name, set(dimensions)), f"{each.name}: {namespace} {name}"


def test_dimensions_name_resources_of_the_program() -> None:
    known = {
        "FunctionName": physical_names("aws:lambda/function:Function"),
        "QueueName": physical_names("aws:sqs/queue:Queue"),
        "TableName": physical_names("aws:dynamodb/table:Table"),
        "TopicName": physical_names("aws:sns/topic:Topic"),
        "ApiName": physical_names("aws:apigateway/restApi:RestApi"),
        "Stage": {"dev"},
        "EventBusName": physical_names("aws:cloudwatch/eventBus:EventBus"),
        "RuleName": physical_names("aws:cloudwatch/eventRule:EventRule"),
        "Service": {service_name("dev", name) for name in (*alarms.FUNCTIONS, "api")},
        "TenantId": {each.name for each in previewed("dev").of_type("onceward:index:Tenant")},
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


def test_every_widget_has_a_region_and_a_title_and_lies_on_the_grid() -> None:
    for each in every_dashboard():
        places = set()
        for widget in widgets(each.inputs["dashboardBody"]):
            assert widget["properties"]["region"] == "eu-west-1"
            assert widget["properties"]["title"]
            assert widget["properties"]["metrics"]
            assert widget["x"] + widget["width"] <= 24
            places.add((widget["x"], widget["y"]))
        assert len(places) == len(list(widgets(each.inputs["dashboardBody"])))


def test_a_dashboard_is_the_same_text_every_time() -> None:
    assert dashboards.platform_body(NAMES, "eu-west-1") == dashboards.platform_body(Names("dev"), "eu-west-1")
    one, two = previewed("dev"), updated("dev")
    for each in one.of_type(DASHBOARD):
        assert two.resources[each.urn].inputs["dashboardBody"] == each.inputs["dashboardBody"]


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
    alarm = updated("prod").one(ALARM, "alarm-dispatch-parked").inputs
    assert (alarm["namespace"], alarm["metricName"], alarm["statistic"]) == (
        "Onceward",
        "DispatchParked",
        "Sum",
    )
    assert (alarm["threshold"], alarm["evaluationPeriods"]) == (1, 1)


def test_a_receipt_that_is_tried_again_and_again_never_looks_like_one_that_nobody_takes() -> None:
    age = updated("prod").one(ALARM, "alarm-dispatch-retry-age").inputs["threshold"]
    # SQS counts the age of a message until it has been received more than three times.
    assert sum(pause_seconds(receives) for receives in (1, 2, 3)) < age


def test_what_anybody_can_make_the_authorizer_do_rings_only_as_a_flood() -> None:
    run = updated("prod")
    raised, failed = (run.one(ALARM, f"alarm-authorizer-{kind}").inputs for kind in ("errors", "failed"))
    assert (failed["namespace"], failed["metricName"], failed["threshold"]) == ("Onceward", "Failed", 1)
    assert raised["threshold"] * raised["evaluationPeriods"] >= 1_000
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
