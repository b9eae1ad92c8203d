"""Alarms minute by minute: dimensions, sliding windows, groups of a query, composites and suppressors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ops.observing.alarm_definitions import NotCovered
from ops.observing.alarm_rules import RuleError
from ops.observing.alarm_states import Change, current, watch
from ops.observing.series import SeriesName, Unit
from ops.observing.store import MetricStore
from tests.unit.observing.alarms import MINUTE_MS, TOPIC, at, composite, definitions, inputs, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.observing.alarm_states import History

SHARE = (
    'SELECT AVG(Failed) FROM SCHEMA("Onceward", Service, TenantId) '
    "WHERE Service = 'ingest' GROUP BY TenantId ORDER BY AVG() DESC"
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MetricStore]:
    with MetricStore(tmp_path / "metrics.sqlite") as opened:
        yield opened


def changes(history: History, alarm: str = "failed") -> list[tuple[int, str]]:
    """When an alarm went to which state, in minutes."""
    return [
        ((each.at_ms - at(0)) // MINUTE_MS, each.after) for each in history.changes if each.alarm == alarm
    ]


def by_query(**changed: Any) -> dict[str, Any]:
    queries = [{"id": "share", "expression": SHARE, "period": 60, "returnData": True}]
    return inputs(metricQueries=queries, threshold=0.5) | changed


def test_an_alarm_rings_in_the_minute_after_and_ends_when_no_real_point_is_left(store: MetricStore) -> None:
    put(store, 2, 1)
    # Three periods are looked at: the one real point is evaluated until it is out of their reach.
    assert changes(watch(definitions(inputs()), store, at(0), at(9))) == [(0, "OK"), (3, "ALARM"), (6, "OK")]


def test_windows_slide_by_the_minute(store: MetricStore) -> None:
    put(store, 3, 1)
    put(store, 6, 1)
    two = inputs(period=300, threshold=2)
    # Minutes 3 and 6 are in one window of five minutes, and in none that begins at a multiple of five.
    assert changes(watch(definitions(two), store, at(0), at(8)))[:2] == [(0, "OK"), (7, "ALARM")]


def test_m_of_n_counts_the_minutes_that_are_beyond_the_threshold(store: MetricStore) -> None:
    for minute in (0, 2, 4, 5):
        put(store, minute, 5)
    for minute in (1, 3, 6, 7, 8, 9):
        put(store, minute, 0)
    three_of_four = inputs(evaluationPeriods=4, datapointsToAlarm=3)
    found = changes(watch(definitions(three_of_four), store, at(4), at(10)))
    assert found == [(4, "OK"), (6, "ALARM"), (7, "OK")]


def test_another_dimension_is_another_metric(store: MetricStore) -> None:
    put(store, 2, 9, Service="execute")
    put(store, 2, 9, Service="ingest", TenantId="acme")
    assert watch(definitions(inputs()), store, at(0), at(5)).rang() == frozenset()


def test_a_percentile_is_judged_by_its_values(store: MetricStore) -> None:
    for _ in range(18):
        put(store, 1, 10)
    for _ in range(2):
        put(store, 1, 3000)
    p95, p90 = (
        inputs(name=name, statistic=None, extendedStatistic=name, threshold=2000) for name in ("p95", "p90")
    )
    assert watch(definitions(p95, p90), store, at(0), at(2)).ringing() == {"p95"}


def test_maths_is_evaluated_and_a_filled_sum_has_no_missing_points(store: MetricStore) -> None:
    put(store, 1, 3)
    put(store, 1, 2, Service="execute")
    metric = {"namespace": "Onceward", "metricName": "Failed", "stat": "Sum", "period": 60}
    queries = [
        {"id": "total", "expression": "FILL(m0, 0) + FILL(m1, 0)", "returnData": True},
        {"id": "m0", "metric": metric | {"dimensions": {"Service": "ingest"}}},
        {"id": "m1", "metric": metric | {"dimensions": {"Service": "execute"}}},
    ]
    alarm = inputs(metricQueries=queries, threshold=5, evaluationPeriods=5, datapointsToAlarm=1)
    assert changes(watch(definitions(alarm), store, at(0), at(9))) == [(0, "OK"), (2, "ALARM"), (7, "OK")]


@pytest.mark.parametrize(
    ("expression", "rings_from"), [("m0", [4, 9, 14]), ("FILL(m0, 0)", [4])], ids=["as it is", "filled"]
)
def test_a_count_that_is_there_in_trouble_only_rings_again_and_again_unless_it_is_filled(
    store: MetricStore, expression: str, rings_from: list[int]
) -> None:
    """As the guide warns: the last real points are evaluated again, and the windows slide over them."""
    for minute in (2, 3, 3):
        put(store, minute, 1)
    metric = {"namespace": "Onceward", "metricName": "Failed", "stat": "Sum", "period": 300}
    queries = [
        {"id": "total", "expression": expression, "returnData": True},
        {"id": "m0", "metric": metric | {"dimensions": {"Service": "ingest"}}},
    ]
    three = inputs(metricQueries=queries, threshold=3)
    found = changes(watch(definitions(three), store, at(0), at(30)))
    assert [minute for minute, state in found if state == "ALARM"] == rings_from


def test_a_tables_alarm_rings_for_ever_without_a_zero(store: MetricStore) -> None:
    """The negative control of FILL: what AWS/DynamoDB does to missing data."""
    series = SeriesName.of("AWS/DynamoDB", "WriteThrottleEvents", {"TableName": "receipts"})
    store.put(series, Unit.COUNT, at(1), 1)
    alarm = inputs(namespace=series.namespace, metricName=series.name, dimensions=dict(series.dimensions))
    assert watch(definitions(alarm), store, at(0), at(60)).ringing() == {"failed"}


def test_each_group_of_a_query_rings_by_itself(store: MetricStore) -> None:
    for minute in range(6):
        put(store, minute, 0, Service="ingest", TenantId="acme")
        put(store, minute, 1 if minute == 2 else 0, Service="ingest", TenantId="bolt")
        put(store, minute, 1, Service="read", TenantId="acme")  # not asked for
    history = watch(definitions(by_query()), store, at(1), at(5))
    assert changes(history) == [(1, "OK"), (3, "ALARM"), (4, "OK")]
    assert history.contributors == {("failed", "bolt")}
    told = [(each.contributor, each.state) for each in history.notifications]
    assert told == [("bolt", "ALARM"), ("bolt", "OK")]


def test_two_groups_are_told_of_apart_and_the_alarm_rings_until_the_last_is_over(store: MetricStore) -> None:
    for minute in range(8):
        put(store, minute, 1 if minute in (1, 2) else 0, Service="ingest", TenantId="acme")
        put(store, minute, 1 if minute in (2, 3, 4) else 0, Service="ingest", TenantId="bolt")
    history = watch(definitions(by_query()), store, at(1), at(8))
    assert changes(history) == [(1, "OK"), (2, "ALARM"), (6, "OK")]
    rings = [each.contributor for each in history.notifications if each.state == "ALARM"]
    assert rings == ["acme", "bolt"]
    assert watch(definitions(by_query()), store, at(1), at(3)).states["failed"].contributors == (
        "acme",
        "bolt",
    )


def test_a_group_that_sends_nothing_any_more_is_over(store: MetricStore) -> None:
    put(store, 1, 1, Service="ingest", TenantId="acme")
    assert changes(watch(definitions(by_query()), store, at(0), at(9))) == [
        (0, "OK"),
        (2, "ALARM"),
        (5, "OK"),
    ]


def test_a_composite_follows_its_children_in_the_same_minute(store: MetricStore) -> None:
    put(store, 2, 1)
    both = definitions(
        composite("any", "ALARM(failed) OR ALARM(other)"), inputs(), inputs("other", threshold=9)
    )
    history = watch(both, store, at(0), at(4))
    assert changes(history, "any") == [(0, "OK"), (3, "ALARM")]
    assert Change(at(3), "any", "OK", "ALARM") in history.changes


def suppressed(wait: int, extension: int) -> list[dict[str, Any]]:
    """A platform's composite, and a tenant's that it mutes; the tenant's child itself tells nobody."""
    return [
        inputs("down.child", dimensions={"Service": "down"}, alarmActions=[], okActions=[]),
        inputs("tenant.child", alarmActions=[], okActions=[]),
        composite("down", "ALARM(down.child)"),
        composite(
            "tenant",
            "ALARM(tenant.child)",
            actionsSuppressor={"alarm": "down", "waitPeriod": wait, "extensionPeriod": extension},
        ),
    ]


def rings(history: History) -> list[tuple[int, str]]:
    """Who was told that what rings, and when, in minutes."""
    return [
        ((each.at_ms - at(0)) // MINUTE_MS, each.alarm)
        for each in history.notifications
        if each.state == "ALARM"
    ]


def test_without_a_suppressor_ringing_the_composite_tells_after_it_has_waited(store: MetricStore) -> None:
    for minute in range(2, 8):
        put(store, minute, 1)
    history = watch(definitions(*suppressed(120, 60)), store, at(0), at(8))
    assert rings(history) == [(5, "tenant")]  # rings from minute 3 on, and waits two
    assert history.muted == {("tenant", "WaitPeriod")}
    assert history.states["tenant"].muted is None  # it told: nothing keeps it any more
    waiting = watch(definitions(*suppressed(120, 60)), store, at(0), at(4))
    assert waiting.states["tenant"].muted == "WaitPeriod"
    assert [each.topics for each in history.notifications if each.state == "ALARM"] == [(TOPIC,)]


def test_a_failure_of_the_platform_tells_once_and_mutes_the_tenants(store: MetricStore) -> None:
    for minute in range(2, 8):
        put(store, minute, 1)
        put(store, minute + 1, 1, Service="down")  # a minute later: what the waiting is for
    history = watch(definitions(*suppressed(120, 120)), store, at(0), at(20))
    assert history.rang() == {"down", "down.child", "tenant", "tenant.child"}
    assert rings(history) == [(4, "down")]
    assert ("tenant", "Alarm") in history.muted


def test_what_still_rings_when_the_platform_is_well_is_told_after_the_extension(store: MetricStore) -> None:
    for minute in range(2, 20):
        put(store, minute, 1)
    put(store, 2, 1, Service="down")
    history = watch(definitions(*suppressed(60, 120)), store, at(0), at(20))
    # The platform's rings from minute 3 to 6 (one real point, looked at three times).
    assert rings(history) == [(3, "down"), (8, "tenant")]
    assert {why for _, why in history.muted} == {"Alarm", "ExtensionPeriod"}


def test_composites_are_evaluated_after_those_that_they_ask_for(store: MetricStore) -> None:
    put(store, 1, 1)
    outer_first = definitions(
        composite("outer", "ALARM(inner)"), composite("inner", "ALARM(failed)"), inputs()
    )
    assert changes(watch(outer_first, store, at(0), at(2)), "outer") == [(0, "OK"), (2, "ALARM")]


def test_composites_in_a_circle_or_of_nobody_are_refused(store: MetricStore) -> None:
    with pytest.raises(NotCovered, match="each other"):
        watch(definitions(composite("a", "ALARM(b)"), composite("b", "ALARM(a)")), store, at(0), at(0))
    with pytest.raises(RuleError, match="nobody"):
        watch(definitions(composite("a", "ALARM(nobody)")), store, at(0), at(0))
    muted_by = {"alarm": "nobody", "waitPeriod": 0, "extensionPeriod": 0}
    with pytest.raises(RuleError, match="nobody"):
        watch(definitions(composite("a", "TRUE", actionsSuppressor=muted_by)), store, at(0), at(0))


def test_the_present_follows_from_the_minutes_before_it(store: MetricStore) -> None:
    put(store, 100, 1)
    now = current(definitions(inputs()), store, at(101) + 5_000)
    assert (now["failed"].state, now["failed"].since_ms) == ("ALARM", at(101))
    assert current(definitions(inputs()), store, at(110))["failed"].state == "OK"


def test_the_present_of_a_store_without_a_point_is_what_missing_data_means(store: MetricStore) -> None:
    silent = inputs("silent", treatMissingData="breaching")
    now = current(definitions(inputs(), silent, inputs("unknown", treatMissingData="missing")), store, at(5))
    assert {name: each.state for name, each in now.items()} == {
        "failed": "OK",
        "silent": "ALARM",
        "unknown": "INSUFFICIENT_DATA",
    }
