"""What is one tenant's trouble, its provider or its topic, rings for it and for no function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from ops.observing.series import SeriesName, Unit
from tests.infra.test_alarms_over_metrics import (
    AFTER,
    TENANTS,
    TROUBLE,
    platform,
    platforms,
    store,
    told,
    watched,
)
from tests.unit.observing.alarms import at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.observing.store import MetricStore

__all__ = ["store"]

DUE: Final = "ApproximateNumberOfMessagesVisible"
HIDDEN: Final = "ApproximateNumberOfMessagesNotVisible"
ACME: Final = "onceward-prod-acme_alarm"


def paying(store: MetricStore, troubled: str | None, metric: str = "EffectTrouble") -> None:
    """A payment a tenant and minute; those of `troubled` fail for its provider's sake while it is down."""
    for tenant in TENANTS:
        dimensions = {"Service": platform("execute"), "TenantId": tenant}
        for minute in range(AFTER.stop):
            down = int(tenant == troubled and minute in TROUBLE)
            store.put(SeriesName.of("Onceward", metric, dimensions), Unit.COUNT, at(minute), down)
            store.put(SeriesName.of("Onceward", "Failed", dimensions), Unit.COUNT, at(minute), 0)


def test_a_provider_that_is_down_rings_for_its_tenant_and_for_no_function(store: MetricStore) -> None:
    paying(store, "acme")
    history = watched(store)
    query = platform("tenants-provider-trouble")
    assert history.rang() == {
        query,
        platform("provider-trouble"),
        ACME,
        "onceward-prod-acme_provider-trouble",
    }
    assert history.contributors == {(query, "acme")}
    assert told(history) == sorted([platform("provider-trouble"), ACME])
    assert history.ringing() == set()


@pytest.mark.parametrize(("troubled", "metric"), [(None, "EffectTrouble"), ("acme", "EffectTroubles")])
def test_nothing_rings_for_payments_that_go_well_or_under_another_name(
    store: MetricStore, troubled: str | None, metric: str
) -> None:
    paying(store, troubled, metric)
    assert watched(store).rang() == set()


def waiting(store: MetricStore, name: str, minutes: Iterable[int]) -> None:
    """One message on the retry queue in these minutes, counted so, and none in the others."""
    series = SeriesName.of("AWS/SQS", name, {"QueueName": platform("dispatch-retry")})
    for minute in range(AFTER.stop):
        store.put(series, Unit.COUNT, at(minute), int(minute in minutes))


def test_a_parked_receipt_rings_as_long_as_it_waits_and_is_told_of_once(store: MetricStore) -> None:
    until = 50
    for dimensions in ({}, {"TenantId": "bell"}):
        parked = SeriesName.of("Onceward", "DispatchParked", {"Service": platform("dispatch"), **dimensions})
        store.put(parked, Unit.COUNT, at(TROUBLE.start), 1)
    # Due at its attempts, and hidden between them, for ever longer.
    due = {TROUBLE.start + after for after in (0, 1, 3, 7, 15, 31)}
    waiting(store, DUE, due)
    waiting(store, HIDDEN, set(range(TROUBLE.start, until)) - due)
    history = watched(store)
    assert history.rang() == platforms(
        "tenants-stuck", "tenants-stuck-dispatch", "dispatch-parked", "dispatch-retry-depth"
    )
    assert told(history) == [platform("tenants-stuck")]
    assert history.ringing() == set()
    assert history.states[platform("dispatch-retry-depth")].since_ms >= at(until)


def test_what_is_mended_within_minutes_does_not_ring_as_what_waits(store: MetricStore) -> None:
    waiting(store, HIDDEN, range(TROUBLE.start, TROUBLE.start + 5))
    assert watched(store).rang() == set()


def test_a_topic_that_refuses_what_became_of_orders_rings_for_its_tenant(store: MetricStore) -> None:
    for dimensions in ({}, {"TenantId": "bell"}):
        refused = SeriesName.of("Onceward", "TopicRefused", {"Service": platform("notify"), **dimensions})
        for minute in range(TROUBLE.start, TROUBLE.start + 3):
            store.put(refused, Unit.COUNT, at(minute), 1)
    history = watched(store)
    assert history.rang() == platforms("tenants-stuck-notify", "tenants-stuck")
    assert history.contributors == {(platform("tenants-stuck-notify"), "bell")}
