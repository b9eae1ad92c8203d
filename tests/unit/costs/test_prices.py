"""The price table: dated, with sources, and tiered as AWS's is."""

from __future__ import annotations

import dataclasses
from math import inf

import pytest

from infra import prices
from infra.observability import Observability
from infra.prices import PRICES, Price


def test_every_price_has_a_page_of_awss_and_what_was_read() -> None:
    assert len(PRICES) >= 20
    assert [each.unit for each in PRICES if not each.page.startswith("https://")] == []
    assert [each.unit for each in PRICES if len(each.read) < 10] == []
    assert len({each.unit for each in PRICES}) == len(PRICES)


def test_tiers_ascend_without_end_and_get_cheaper() -> None:
    for each in PRICES:
        bounds, dollars = zip(*each.tiers, strict=True)
        assert list(bounds) == sorted(set(bounds)), each.unit
        assert bounds[-1] == inf, each.unit
        assert list(dollars) == sorted(dollars, reverse=True), each.unit
        assert dollars[-1] > 0, each.unit


@pytest.mark.parametrize(
    ("series", "usd"),
    [(0, 0), (1, 0.30), (10_000, 3_000), (10_001, 3_000.10), (250_000, 27_000), (1_000_001, 64_500.02)],
)
def test_each_series_costs_what_its_tier_does(series: int, usd: float) -> None:
    assert prices.METRIC.cost(series) == pytest.approx(usd)


def test_a_bill_has_each_service_once_and_all_of_it() -> None:
    used = {prices.ALARM: 10.0, prices.COMPOSITE_ALARM: 2.0, prices.DASHBOARD: 1.0}
    assert prices.by_service(used) == {"CloudWatch dashboards": 3.0, "CloudWatch alarms": pytest.approx(2.0)}


def test_whatever_is_counted_of_observability_is_charged() -> None:
    for field in dataclasses.fields(Observability):
        assert Observability(**{field.name: 1}).usd > 0, field.name


def test_observability_adds_up_and_multiplies() -> None:
    one = Observability(1, 2, 3, 4, 5, 6)
    assert one + one.times(2) == one.times(3) == Observability(3, 6, 9, 12, 15, 18)


def test_prices_of_one_service_are_told_apart() -> None:
    assert isinstance(prices.METRIC, Price)
    assert len(set(PRICES)) == len(PRICES)
