"""`onceward cost`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from infra import prices
from infra.naming import Names
from infra.observed import of_stage
from ops.cli import app
from ops.costs.assumed import NOT_COUNTED
from ops.costs.counted import OPERATIONS
from ops.stages import ROOT
from tenants.loader import load
from tests.infra.stages import settings_of

if TYPE_CHECKING:
    from typer.testing import Result


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["cost", *arguments], env={"COLUMNS": "200", "TERM": "dumb"})


def told(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_it_prints_every_service_per_million_and_per_tenant_with_the_prices_date() -> None:
    result = run("--tenants", "1000", "--requests", "10000000", "--dashboard", "shared")
    assert result.exit_code == 0, result.output
    assert str(prices.READ_ON) in result.stdout
    for service in {each.service for each in prices.PRICES}:
        assert f"\n{service} " in result.stdout
    assert "\nper million requests: $" in result.stdout
    assert "\nper tenant, before its requests: $" in result.stdout
    assert all(each in result.stdout for each in NOT_COUNTED)


def test_it_prints_series_and_dollars_of_a_thousand_tenants_shared_and_dedicated() -> None:
    lines = [line.split("  ") for line in run().stdout.splitlines()]
    rows = {cells[0].strip(): [cell.strip() for cell in cells[1:] if cell.strip()] for cells in lines}
    of_one = told()["observabilityOfOneTenant"]
    kinds = ("shared", "dedicated")
    assert rows["metric series"] == [f"{of_one[kind]['metricSeries']:,}" for kind in kinds]
    dollars = [f"${of_one[kind]['usdPerThousandTenants']:,.2f}" for kind in kinds]
    assert rows["1,000 tenants"] == dollars
    assert of_one["shared"]["usdPerThousandTenants"] < of_one["dedicated"]["usdPerThousandTenants"]


def test_without_a_number_the_stages_own_tenants_are_counted() -> None:
    document = told("--stage", "prod")
    tenants = load(ROOT / "tenants", "prod").tenants
    assert document["tenants"] == len(tenants)
    observed = ("CloudWatch metrics", "CloudWatch dashboards", "CloudWatch alarms")
    usd = sum(document["services"][service]["usd"] for service in observed)
    all_topics = settings_of("prod").watch_all_topics
    assert usd == pytest.approx(of_stage(Names("prod"), tenants, all_topics=all_topics).usd, abs=0.02)


def test_tenants_with_metrics_in_detail_cost_more_and_those_with_dashboards_too() -> None:
    many = ("--tenants", "100")
    shared = told(*many, "--dashboard", "shared")["perTenant"]
    dedicated = told(*many)["perTenant"]
    detailed = told(*many, "--detailed")["perTenant"]
    assert shared < dedicated < detailed


def test_duplicates_and_mix_make_a_difference() -> None:
    fresh = told("--duplicates", "0")["perMillionRequests"]
    assert told("--duplicates", "100")["perMillionRequests"] < fresh
    mixed = told("--mix", "leads=3, orders=1")
    assert mixed["mix"] == {"leads": 0.75, "orders": 0.25}
    assert told()["mix"] == dict.fromkeys(OPERATIONS, 1 / len(OPERATIONS))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--mix", "leads"), "leads=3"),
        (("--mix", "lead=1"), "appointments"),
        (("--mix", "leads=1,leads=2"), "once"),
        (("--mix", "leads=0"), "above 0"),
        (("--stage", "nowhere"), "nowhere"),
        (("--detailed",), "--tenants"),
        (("--dashboard", "shared"), "--tenants"),
        (("--duplicates", "101"), "100"),
        (("--tenants", "-1"), "--tenants"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(arguments: tuple[str, ...], says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in result.output


def test_nothing_at_all_costs_what_is_there_anyway() -> None:
    document = told("--tenants", "0", "--requests", "0")
    assert document["total"]["usd"] == document["total"]["standing"] > 0
    assert (document["perTenant"], document["perMillionRequests"]) == (None, None)


def test_more_tenants_than_a_stage_takes_are_priced_with_a_note() -> None:
    result = run("--tenants", "10001", "--json")
    assert result.exit_code == 0
    assert "a stage takes 10,000 tenants" in result.stderr
    assert json.loads(result.stdout)["tenants"] == 10_001
    assert run("--tenants", "10000").stderr == ""
