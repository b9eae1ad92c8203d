"""Alarms as they were registered, and what is refused rather than judged wrongly."""

from __future__ import annotations

from typing import Any

import pytest

from ops.local.state import Entry
from ops.observing.alarm_definitions import COMPOSITE_ALARM, METRIC_ALARM, Definitions, NotCovered, registered
from tests.unit.observing.alarms import TOPIC, composite, definitions, inputs

SELECT = 'SELECT AVG(Failed) FROM SCHEMA("Onceward", Service, TenantId) GROUP BY TenantId'


def entry(kind: str, made: dict[str, object]) -> Entry:
    name = made.get("name") or made["alarmName"]
    return Entry(urn=f"urn:pulumi:local::onceward::{kind}::{name}", custom=True, inputs=made)


def test_the_alarms_of_a_platform_are_those_among_its_resources() -> None:
    found = registered(
        [
            entry(METRIC_ALARM, inputs("b")),
            entry("aws:sns/topic:Topic", {"name": "alarms"}),
            entry(COMPOSITE_ALARM, composite("a", "ALARM(b)")),
        ]
    )
    assert [alarm.name for alarm in found.metric] == ["b"]
    assert [alarm.name for alarm in found.composite] == ["a"]


def test_alarms_come_back_from_a_file_as_they_were() -> None:
    kept = definitions(inputs(), composite("c", "ALARM(failed)"))
    assert Definitions.from_json(kept.to_json()) == kept
    with pytest.raises(ValueError, match="no alarms"):
        Definitions.from_json("[]")


def test_an_alarm_on_one_metric_is_one_query() -> None:
    # As the local state has them: numbers may be floats.
    [alarm] = definitions(inputs(evaluationPeriods=3.0, period=300.0, threshold=5.0)).metric
    assert (alarm.period_seconds, alarm.evaluation_periods, alarm.datapoints_to_alarm) == (300, 3, 3)
    assert alarm.queries == (
        {
            "Id": "m1",
            "ReturnData": True,
            "MetricStat": {
                "Metric": {
                    "Namespace": "Onceward",
                    "MetricName": "Failed",
                    "Dimensions": [{"Name": "Service", "Value": "ingest"}],
                },
                "Period": 300,
                "Stat": "Sum",
            },
        },
    )


def test_a_percentile_is_its_statistic() -> None:
    [alarm] = definitions(inputs(statistic=None, extendedStatistic="p95")).metric
    assert alarm.queries[0]["MetricStat"]["Stat"] == "p95"


def test_a_query_has_the_period_that_it_states() -> None:
    queries = [{"id": "q", "expression": SELECT, "period": 300, "returnData": True}]
    [alarm] = definitions({**inputs(period=None), "metricQueries": queries}).metric
    assert (alarm.period_seconds, alarm.queries[0]["Expression"]) == (300, SELECT)


def test_a_composite_knows_its_suppressor_by_name() -> None:
    suppressor = {
        "alarm": "arn:aws:cloudwatch:us-east-1:000000000000:alarm:down",
        "waitPeriod": 60,
        "extensionPeriod": 120,
    }
    [alarm] = definitions(composite("c", "TRUE", actionsSuppressor=suppressor)).composite
    assert (alarm.suppressor, alarm.wait_seconds, alarm.extension_seconds) == ("down", 60, 120)


def test_actions_that_are_off_tell_nobody() -> None:
    on, off = definitions(inputs(), inputs(actionsEnabled=False)).metric
    assert (on.alarm_actions, off.alarm_actions) == ((TOPIC,), ())


@pytest.mark.parametrize("stated", ["breaching", "notBreaching", "missing"])
def test_a_tables_metric_ignores_what_is_missing_whatever_is_stated(stated: str) -> None:
    [alarm] = definitions(inputs(namespace="AWS/DynamoDB", treatMissingData=stated)).metric
    assert alarm.missing == "ignore"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"period": 10}, "a period of 10 s"),
        ({"period": 90}, "a period of 90 s"),
        ({"thresholdMetricId": "band"}, "anomaly"),
        ({"unit": "Seconds"}, "unit"),
        ({"comparisonOperator": "GreaterThanUpperThreshold"}, "comparison"),
        ({"evaluateLowSampleCountPercentiles": "ignore"}, "percentiles"),
        (
            {
                "metricQueries": [
                    {"id": "a", "expression": SELECT, "period": 60, "returnData": True},
                    {"id": "b", "expression": SELECT, "period": 300},
                ]
            },
            "periods",
        ),
    ],
)
def test_what_is_not_covered_is_refused_by_name(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(NotCovered, match=f"failed: .*{said}"):
        _ = definitions(inputs(**changed)).metric
