"""The program's own alarms over metrics of a trouble: which of them ring, and who is told.

What a storm of faults takes minutes to make (tests/e2e/test_alarms_in_a_storm.py), or cannot make at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from ops.observing.alarm_definitions import COMPOSITE_ALARM, METRIC_ALARM, Definitions
from ops.observing.alarm_states import watch
from ops.observing.series import Point, SeriesName, Unit
from ops.observing.store import MetricStore
from tests.infra.stages import updated
from tests.unit.observing.alarms import MINUTE_MS, at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ops.observing.alarm_states import History

# A trouble of ten minutes in an hour: longer than all windows before it, and time to be over.
BEFORE: Final = range(10)
TROUBLE: Final = range(10, 20)
AFTER: Final = range(20, 60)
TENANTS: Final = ("acme", "bell")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MetricStore]:
    with MetricStore(tmp_path / "metrics.sqlite") as opened:
        # Else its silence rings.
        called = SeriesName.of("AWS/Lambda", "Invocations", {"FunctionName": platform("reconcile")})
        for minute in range(-20, AFTER.stop):
            opened.put(called, Unit.COUNT, at(minute), 1)
        yield opened


def platform(name: str) -> str:
    return f"onceward-prod_{name}"


def platforms(*names: str) -> set[str]:
    return set(map(platform, names))


def count(
    store: MetricStore, minutes: Iterable[int], times: int, function: str, name: str, tenant: str = ""
) -> None:
    """One of our own, so many times in each of the minutes: of all tenants, and of a tenant."""
    of_all = {"Service": platform(function)}
    for dimensions in [of_all, *([of_all | {"TenantId": tenant}] if tenant else [])]:
        _put(store, minutes, times, SeriesName.of("Onceward", name, dimensions))


def calls(store: MetricStore, minutes: Iterable[int], times: int, name: str) -> None:
    """A count of the API's: Count, or 5XXError."""
    _put(
        store,
        minutes,
        times,
        SeriesName.of("AWS/ApiGateway", name, {"ApiName": platform("api"), "Stage": "prod"}),
    )


def _put(store: MetricStore, minutes: Iterable[int], times: int, series: SeriesName) -> None:
    # Spread over the minute.
    store.put_all(
        Point(series, Unit.COUNT, at(minute) + one * MINUTE_MS // times, 1)
        for minute in minutes
        for one in range(times)
    )


def watched(store: MetricStore, *names: str) -> History:
    """What all alarms of the stage, or those of these names, make of it from first to last."""
    kinds = (METRIC_ALARM, COMPOSITE_ALARM)
    made = [(each.type, each.inputs) for kind in kinds for each in updated("prod").of_type(kind)]
    wanted = [each for each in made if not names or (each[1].get("name") or each[1]["alarmName"]) in names]
    assert len(wanted) == len(names) or not names
    return watch(Definitions(tuple(wanted)), store, at(0), at(AFTER.stop))


def told(history: History) -> list[str]:
    """The alarms that told somebody that they ring, as often as they did."""
    return sorted(each.alarm for each in history.notifications if each.state == "ALARM")


def publishing(store: MetricStore, since: float) -> None:
    """Ten receipts a minute, five for each of two tenants; from `since` (minutes) until the trouble is over
    none of them can be published."""
    for tenant in TENANTS:
        of_all = {"Service": platform("dispatch")}
        for place in range(AFTER.stop * 5):
            moment = place / 5
            parked = since <= moment < TROUBLE.stop
            kinds = [of_all, of_all | {"TenantId": tenant}] if parked else [of_all]
            for dimensions in kinds:
                name = SeriesName.of("Onceward", "DispatchParked" if parked else "Dispatched", dimensions)
                store.put(name, Unit.COUNT, at(0) + int(moment * MINUTE_MS), 1)


# At the end of a minute: the first failure is seen at once, and half of all is a while off.
@pytest.mark.parametrize("since", [TROUBLE.start, TROUBLE.start + 0.8])
def test_when_nothing_can_be_published_one_alarm_tells_so_and_mutes_the_others(
    store: MetricStore, since: float
) -> None:
    publishing(store, since)
    history = watched(store)
    ringing = platforms("platform-down", "dispatch-failing", "dispatch-parked", "tenants-stuck")
    assert history.rang() >= ringing | {"onceward-prod-acme_alarm"}
    assert history.contributors == {(platform("tenants-stuck-dispatch"), tenant) for tenant in TENANTS}
    assert told(history) == [platform("platform-down")]
    assert history.ringing() == set()


def test_the_others_do_not_tell_afterwards_where_nobody_calls_any_more(store: MetricStore) -> None:
    for tenant in TENANTS:
        count(store, TROUBLE, 10, "ingest", "Failed", tenant)
    history = watched(store)
    assert history.rang() >= platforms("platform-down", "requests-failing", "tenants-failing-ingest")
    assert told(history) == [platform("platform-down")]
    assert history.ringing() == set()


def test_one_tenant_whose_events_cannot_be_published_is_told_of_once_and_is_not_everybody(
    store: MetricStore,
) -> None:
    count(store, range(AFTER.stop), 10, "dispatch", "Dispatched")
    count(store, TROUBLE, 5, "dispatch", "DispatchParked", "bell")
    history = watched(store)
    assert history.rang() == platforms("tenants-stuck", "tenants-stuck-dispatch", "dispatch-parked")
    assert told(history) == [platform("tenants-stuck")]


def test_a_tenants_provider_that_is_down_is_not_everybody(store: MetricStore) -> None:
    calls(store, range(AFTER.stop), 5, "Count")
    calls(store, TROUBLE, 5, "5XXError")
    # Five calls a minute, of which the provider of one tenant is to blame for all.
    count(store, TROUBLE, 5, "execute", "EffectTrouble")
    history = watched(store)
    assert platform("api-5xx") in history.rang()
    assert not history.rang() & platforms("calls-failing", "platform-down")


# Of five calls a minute: half of all in five minutes are twelve and a half.
@pytest.mark.parametrize(("failed", "rings"), [(2, False), (3, True)])
def test_calls_fail_for_everybody_from_half_of_them_on_that_no_provider_is_to_blame_for(
    store: MetricStore, failed: int, *, rings: bool
) -> None:
    calls(store, range(AFTER.stop), 5, "Count")
    calls(store, TROUBLE, failed + 2, "5XXError")
    count(store, TROUBLE, 2, "execute", "EffectTrouble")
    assert (platform("platform-down") in watched(store).rang()) is rings


# Ten in five minutes, and half of all.
HALF: Final = pytest.mark.parametrize(
    ("bad", "fine", "rings"), [(10, 10, True), (9, 0, False), (10, 11, False), (0, 0, False)]
)


def everybody_is_hit(store: MetricStore) -> frozenset[str]:
    """Of the alarms that mean everybody, and the one over them, those that rang."""
    parts = ("calls-failing", "requests-failing", "dispatch-failing", "work-failing")
    return watched(store, *map(platform, ("platform-down", *parts))).rang()


@HALF
def test_half_of_all_receipts_that_are_parked_are_everybodys(
    store: MetricStore, bad: int, fine: int, *, rings: bool
) -> None:
    count(store, TROUBLE[:1], bad, "dispatch", "DispatchParked")
    count(store, TROUBLE[:1], fine, "dispatch", "Dispatched")
    assert everybody_is_hit(store) == (platforms("dispatch-failing", "platform-down") if rings else set())


@HALF
def test_half_of_all_work_that_breaks_is_everybodys(
    store: MetricStore, bad: int, fine: int, *, rings: bool
) -> None:
    # Of both workers together: no half of either alone would do.
    count(store, TROUBLE[:1], bad - bad // 2, "deliver", "WorkBroke")
    count(store, TROUBLE[:1], bad // 2, "fulfil", "WorkBroke")
    count(store, TROUBLE[:1], fine // 2, "deliver", "Delivered")
    count(store, TROUBLE[:1], fine - fine // 2, "fulfil", "Completed")
    assert everybody_is_hit(store) == (platforms("work-failing", "platform-down") if rings else set())


def test_work_that_fails_for_its_destinations_sake_is_not(store: MetricStore) -> None:
    count(store, TROUBLE, 10, "deliver", "DeliveryFailed")
    count(store, TROUBLE, 10, "fulfil", "FulfilmentFailed")
    assert everybody_is_hit(store) == set()
