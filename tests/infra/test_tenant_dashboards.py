"""Tenants on dashboards: whichever is chosen, those with their own; what one adds to the others: nothing."""

import json
import re
from typing import Any

from infra.dashboards import Place, any_tenant_body
from infra.dashboards.tenant import ANY, MOST_LISTED
from infra.naming import Arns, Location, Names
from infra.tenant_alarms import tenant_rules
from infra.widgets import references
from tests.infra.dashboard_bodies import ANY_TENANT, PLATFORM, bodies, thresholds, titled
from tests.infra.stages import run_stage, tenant, with_tenants

NAMES = Names("dev")


def test_a_rule_for_all_tenants_is_drawn_on_the_list_of_tenants_and_on_each_tenant() -> None:
    found = bodies(run_stage("dev", with_tenants([tenant("bee")])))
    ranked = titled(found[PLATFORM], "Failing most: share, ingest")
    assert thresholds(ranked) == {"alarm: tenants-failing-ingest": 0.25}
    assert ranked["yAxis"]["left"]["label"] == "share (1 = all)"
    for name in (ANY_TENANT, "onceward-dev-bee"):
        lines = thresholds(titled(found[name], "Share that failed, by function"))
        assert list(lines.values()) == [0.25], name


def test_a_tenants_own_alarms_are_drawn_with_the_thresholds_of_its_file() -> None:
    rules = {
        "failedRequests": {"threshold": 7, "minutes": 10},
        "failedDeliveries": {"threshold": 3, "minutes": 1},
    }
    body = bodies(run_stage("dev", with_tenants([tenant("bee", alarms=rules)])))["onceward-dev-bee"]
    failed, events = titled(body, "Failed for what is ours"), titled(body, "Events on its topic")
    assert [value for label, value in thresholds(failed).items() if "failed-requests" in label] == [7]
    assert (failed["period"], failed["yAxis"]["left"]["label"]) == (600, "requests per 10 minutes")
    assert thresholds(events) == {"alarm: failed-deliveries": 3}
    assert events["period"] == 60


def test_a_tenant_without_alarms_has_a_dashboard_all_the_same() -> None:
    run = run_stage("dev", with_tenants([tenant("bee", alarms={"enabled": False})]))
    assert "tenants-failing-ingest" in bodies(run)["onceward-dev-bee"]


def test_the_chosen_tenant_is_put_in_everywhere() -> None:
    found = bodies(run_stage("dev", with_tenants([tenant("bee", metrics="detailed")])))
    any_tenant = json.loads(found[ANY_TENANT])
    (variable,) = any_tenant.pop("variables")
    assert (variable["type"], variable["pattern"], variable["defaultValue"]) == ("pattern", ANY, "__FIRST")
    assert (variable["inputType"], variable["populateFrom"]) == ("select", "TenantId")
    assert variable["search"] == (
        '{Onceward,Service,TenantId} Service=("onceward-dev_ingest" OR "onceward-dev_execute" OR '
        '"onceward-dev_webhooks") MetricName="Accepted"'
    )
    chosen, own = json.dumps(any_tenant).replace(ANY, "bee"), json.loads(found["onceward-dev-bee"])
    assert {each["title"]: each["metrics"] for each in _properties(json.loads(chosen))} == {
        each["title"]: each["metrics"] for each in _properties(own)
    }
    # Neither an id nor a name of ours: it would be put in where it does not belong.
    assert not re.search("[A-Z_]{3,}", "onceward-dev-bee")
    assert ANY not in found[PLATFORM]


def _properties(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [each["properties"] for each in document["widgets"] if each["type"] == "metric"]


def test_where_there_are_more_tenants_than_a_search_lists_the_id_is_typed() -> None:
    place = Place(Arns(Location("aws", "123456789012", "eu-west-1"), NAMES), "docs/runbook.md")
    few, more = (any_tenant_body(place, tenant_rules(NAMES), MOST_LISTED + each) for each in (0, 1))
    assert json.loads(few)["variables"][0]["inputType"] == "select"
    (variable,) = json.loads(more)["variables"]
    assert variable["inputType"] == "input"
    assert not {"search", "populateFrom", "defaultValue"} & set(variable)


def test_operations_are_apart_for_a_tenant_that_pays_for_it() -> None:
    run = run_stage("dev", with_tenants([tenant("bee"), tenant("cow", metrics="detailed")]))
    found = {name: references(body) for name, body in bodies(run).items()}

    def in_detail(name: str) -> bool:
        return any("Operation" in each.dimension_names for each in found[name])

    assert not in_detail("onceward-dev-bee")
    assert in_detail("onceward-dev-cow")
    assert in_detail(ANY_TENANT)


def test_another_tenant_changes_neither_the_platforms_nor_another_tenants_text() -> None:
    one = bodies(run_stage("dev", with_tenants([tenant("bee")])))
    two = bodies(run_stage("dev", with_tenants([tenant("bee"), tenant("cow", alarms={"enabled": False})])))
    assert {name: two[name] for name in one} == one
