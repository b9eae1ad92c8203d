"""From requests to dollars."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infra import prices
from infra.observability import Observability
from ops.costs import assumed, counted
from ops.costs.bill import Plan, bill, document
from ops.costs.counted import DUPLICATE, FRESH, OPERATIONS
from ops.costs.traffic import MINUTES, MONTH_SECONDS, Site, Traffic, sampled, usage

SITE = Site(authorizer_cache_seconds=300, log_retention_days=30)
LEADS = Traffic(1_000_000, 0.0, {"leads": 1.0}, tenants=10)
ONE = Observability(series=10, dashboards=1, alarm_metrics=2)


def plan(traffic: Traffic = LEADS) -> Plan:
    return Plan(traffic, SITE, Observability(dashboards=1), ONE.times(traffic.tenants))


def test_a_month_of_leads_asks_what_a_million_leads_ask() -> None:
    used = usage(LEADS, SITE)
    first, then = FRESH["leads"]
    assert used[prices.API_CALL] == 1_000_000
    assert used[prices.WRITE_UNIT] == 1_000_000 * (first.writes + then.writes)
    assert used[prices.PUBLISH] == 1_000_000
    assert used[prices.EVENT] == 0


def test_duplicates_have_no_consequences() -> None:
    used = usage(replace(LEADS, duplicates=1.0), SITE)
    assert used[prices.WRITE_UNIT] == 1_000_000 * DUPLICATE["leads"].writes
    assert used[prices.PUBLISH] == 0


def test_every_step_is_one_invocation() -> None:
    orders = usage(replace(LEADS, mix={"orders": 1.0}), SITE)
    looked_up = 10 * MONTH_SECONDS / SITE.authorizer_cache_seconds
    assert orders[prices.INVOCATION] == 1_000_000 * len(FRESH["orders"]) + looked_up + MINUTES


def test_the_authorizer_is_asked_once_a_key_and_cache_time_and_never_of_webhooks() -> None:
    def asked(traffic: Traffic, cache: int) -> float:
        idle = usage(replace(traffic, requests=0, tenants=0), SITE)[prices.READ_UNIT]
        return usage(traffic, replace(SITE, authorizer_cache_seconds=cache))[prices.READ_UNIT] - idle

    assert asked(LEADS, 300) == 10 * MONTH_SECONDS / 300
    assert asked(LEADS, 0) == 1_000_000
    assert asked(replace(LEADS, requests=5), 300) == 5
    webhooks = replace(LEADS, mix={"webhooks": 1.0})
    reads = sum(step.reads for step in FRESH["webhooks"])
    assert asked(webhooks, 300) == pytest.approx(1_000_000 * reads)


def test_xray_takes_the_first_of_each_second_and_a_twentieth_of_the_rest() -> None:
    assert sampled(1_000) == 1_000
    assert sampled(MONTH_SECONDS + 1_000) == MONTH_SECONDS + 50


def test_xray_grants_a_second_once_however_many_operations_share_it() -> None:
    # Both by one function and by two: what begins at the API is one root, what begins at the stream another.
    alone = replace(LEADS, requests=10_000_000)
    for mix in ({"leads": 0.5, "orders": 0.5}, {"leads": 0.5, "payments": 0.5}):
        shared = replace(alone, mix=mix)
        assert usage(shared, SITE)[prices.TRACE] == pytest.approx(usage(alone, SITE)[prices.TRACE])
    assert usage(alone, SITE)[prices.TRACE] == pytest.approx(2 * sampled(10_000_000) + MINUTES)


def test_what_is_sent_again_begins_at_the_api_and_goes_no_further() -> None:
    again = replace(LEADS, requests=10_000_000, duplicates=0.5)
    assert usage(again, SITE)[prices.TRACE] == pytest.approx(
        sampled(10_000_000) + sampled(5_000_000) + MINUTES
    )


def test_logs_are_kept_as_long_as_the_stage_keeps_them() -> None:
    month = usage(LEADS, SITE)
    quarter = usage(LEADS, replace(SITE, log_retention_days=90))
    assert quarter[prices.STORED_LOGS] == pytest.approx(3 * month[prices.STORED_LOGS])


def test_what_a_bill_grows_with_adds_up_to_it() -> None:
    made = bill(plan())
    assert made.total.usd == pytest.approx(sum(line.usd for line in made.lines))
    assert made.total.standing + made.total.tenants + made.total.requests == pytest.approx(made.total.usd)
    assert {line.service for line in made.lines} == {each.service for each in prices.PRICES}
    dashboards = next(line for line in made.lines if line.service == "CloudWatch dashboards")
    assert (dashboards.standing, dashboards.tenants, dashboards.requests) == (3.0, 30.0, 0.0)


def test_per_million_and_per_tenant_are_parts_of_it() -> None:
    made = bill(plan())
    assert made.usd_per_million_requests == pytest.approx(made.total.requests)
    assert made.usd_per_tenant == pytest.approx(made.total.tenants / 10)
    empty = bill(plan(replace(LEADS, requests=0, tenants=0)))
    assert (empty.usd_per_million_requests, empty.usd_per_tenant) == (None, None)
    assert empty.total.usd == pytest.approx(empty.total.standing)


def test_a_price_that_doubles_shows_on_its_service_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {line.service: line.usd for line in bill(plan()).lines}
    doubled = tuple((upper, 2 * usd) for upper, usd in prices.API_CALL.tiers)
    monkeypatch.setattr(prices.Price, "cost", _cost_with(doubled))
    after = {line.service: line.usd for line in bill(plan()).lines}
    assert after.pop("API Gateway") == pytest.approx(2 * before.pop("API Gateway"))
    assert after == before


def _cost_with(tiers: tuple[tuple[float, float], ...]) -> object:
    cost = prices.Price.cost

    def with_it(price: prices.Price, quantity: float) -> float:
        return cost(replace(price, tiers=tiers) if price == prices.API_CALL else price, quantity)

    return with_it


def test_the_document_has_each_price_with_its_source() -> None:
    told = document(bill(plan()))
    assert told["pricesReadOn"] == prices.READ_ON.isoformat()
    assert len(told["prices"]) == len(prices.PRICES)
    assert all(each["page"] and each["read"] for each in told["prices"])
    assert told["total"]["usd"] == pytest.approx(
        sum(each["usd"] for each in told["services"].values()), abs=0.1
    )


def test_every_function_that_is_counted_has_a_duration() -> None:
    steps = [step for each in FRESH.values() for step in each]
    steps += [*DUPLICATE.values(), counted.AUTHORIZE, counted.RECONCILE]
    assert {step.function for step in steps} == set(assumed.MILLISECONDS)
    assert set(assumed.MILLISECONDS) >= set(assumed.TRACE_ROOTS)
    assert set(FRESH) == set(DUPLICATE) == set(OPERATIONS)
