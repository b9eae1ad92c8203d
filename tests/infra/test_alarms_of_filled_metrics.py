"""Alarms on expressions: a zero where there is no data, and a look back to data that comes late."""

import pytest

from infra import alarms
from tests.infra.stages import run_stage, tenant, updated, with_tenants
from tests.infra.test_alarms_and_dashboards import ALARM, read_by


def test_a_tables_alarm_ends_though_its_namespace_ignores_what_is_missing() -> None:
    found = [
        each
        for each in updated("prod").of_type(ALARM)
        if any(namespace == "AWS/DynamoDB" for namespace, _, _ in read_by(each))
    ]
    assert len(found) == 2 * len(alarms.TABLES)
    for each in found:
        # Whatever `treatMissingData` says: without a zero it would ring for ever.
        total, query = each.inputs["metricQueries"]
        assert (total["expression"], total["returnData"]) == ("FILL(m0, 0)", True)
        assert query["metric"]["stat"] == "Sum"


@pytest.mark.parametrize(
    "name",
    ["ingest-failed", "dispatch-parked", "api-5xx", "bus-events-lost", "effect-unknown", "work-failing"],
)
def test_a_count_that_is_there_in_trouble_only_is_a_zero_at_all_other_times(name: str) -> None:
    alarm = updated("prod").one(ALARM, f"alarm-{name}").inputs
    total, *queries = alarm["metricQueries"]
    assert {query["metric"]["stat"] for query in queries} == {"Sum"}
    assert all(f"FILL({query['id']}, 0)" in total["expression"] for query in queries)
    assert (alarm["evaluationPeriods"], alarm["datapointsToAlarm"]) == (1, 1)


@pytest.mark.parametrize("name", ["ingest-errors", "orders-dlq-depth", "stream-iterator-age", "api-latency"])
def test_what_is_measured_all_the_time_is_taken_as_it_is(name: str) -> None:
    assert "metricQueries" not in updated("prod").one(ALARM, f"alarm-{name}").inputs


@pytest.mark.parametrize(("minutes", "periods"), [(1, 5), (2, 3), (5, 1), (10, 1)])
def test_a_sum_that_is_filled_looks_back_to_what_comes_late(minutes: int, periods: int) -> None:
    rules = {"failedRequests": {"threshold": 1, "minutes": minutes}}
    alarm = run_stage("dev", with_tenants([tenant("bee", alarms=rules)])).one(
        ALARM, "bee.alarm.failed-requests"
    )
    # The newest minute of a metric from a log is always a zero: alone, it would never ring.
    assert (alarm.inputs["evaluationPeriods"], alarm.inputs["datapointsToAlarm"]) == (periods, 1)
