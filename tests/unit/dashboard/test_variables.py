"""A dashboard's variables: what can be chosen, and what comes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ops.dashboard.variables import Variable, applied, read
from tests.unit.dashboard.made import accepted, body, row, store, widget

if TYPE_CHECKING:
    from pathlib import Path

TENANT: dict[str, Any] = {
    "type": "pattern",
    "pattern": "TENANT_ID",
    "inputType": "select",
    "id": "tenant",
    "label": "Tenant",
    "visible": True,
    "search": '{Onceward,Service,TenantId} MetricName="Accepted"',
    "populateFrom": "TenantId",
    "defaultValue": "__FIRST",
}


def chosen(directory: Path, declared: dict[str, Any], **wanted: str) -> Variable:
    with store(directory) as metrics:
        (variable,) = read([declared], metrics, wanted)
    return variable


def test_the_choices_are_what_the_search_finds_and_the_first_is_chosen(tmp_path: Path) -> None:
    variable = chosen(tmp_path, TENANT)
    assert variable.choices == (("acme", "acme"), ("globex", "globex"))
    assert variable.value == "acme"


def test_a_reader_s_choice_goes_before_the_default(tmp_path: Path) -> None:
    assert chosen(tmp_path, TENANT, tenant="globex").value == "globex"


def test_a_default_that_is_not_there_gives_way_to_what_is(tmp_path: Path) -> None:
    assert chosen(tmp_path, {**TENANT, "defaultValue": "gone"}).value == "acme"
    assert chosen(tmp_path, {**TENANT, "defaultValue": "globex"}).value == "globex"


def test_a_search_that_finds_nothing_chooses_nothing(tmp_path: Path) -> None:
    variable = chosen(tmp_path, {**TENANT, "search": '{Onceward,Service,TenantId} MetricName="Other"'})
    assert (variable.choices, variable.value) == ((), "")


def test_values_of_the_body_have_their_labels(tmp_path: Path) -> None:
    values = [{"value": "acme", "label": "Acme"}, {"value": "globex"}]
    declared = {"type": "property", "property": "TenantId", "id": "t", "values": values}
    variable = chosen(tmp_path, declared)
    assert variable.choices == (("acme", "Acme"), ("globex", "globex"))
    assert (variable.label, variable.form) == ("TenantId", "select")


def a_choice(kind: str, target: str, value: str) -> Variable:
    return Variable("v", "V", kind, target, "select", (), value)


def test_a_pattern_is_replaced_in_rows_expressions_titles_and_texts() -> None:
    text = body(
        widget(title="TENANT_ID now", metrics=[row(accepted("TENANT_ID"), stat="Sum")]),
        widget(metrics=[[{"expression": "SELECT SUM(A) FROM SCHEMA(\"O\", T) WHERE T = 'TENANT_ID'"}]]),
        widget("text", markdown="# TENANT_ID"),
    )
    filled = applied(text, [a_choice("pattern", "TENANT_ID", "acme")])
    assert "TENANT_ID" not in filled
    assert filled.count("acme") == 4


@pytest.mark.parametrize("value", ['a"b', "a\\b", '", "x": "'])
def test_a_chosen_value_does_not_end_the_text_that_it_is_put_into(value: str) -> None:
    filled = json.loads(applied(body(widget(title="TENANT_ID")), [a_choice("pattern", "TENANT_ID", value)]))
    assert filled["widgets"][0]["properties"] == {"title": value}


def test_a_property_changes_dimensions_and_properties_and_no_expression() -> None:
    expression = {"expression": "SEARCH('{Onceward,TenantId} TenantId=\"acme\"', 'Sum', 60)"}
    text = body(widget(region="eu-west-1", metrics=[row(accepted("acme"), stat="Sum"), [expression]]))
    changed = json.loads(
        applied(
            text, [a_choice("property", "TenantId", "globex"), a_choice("property", "region", "us-east-1")]
        )
    )["widgets"][0]["properties"]
    assert changed["region"] == "us-east-1"
    assert changed["metrics"] == [row(accepted("globex"), stat="Sum"), [expression]]


def test_a_variable_without_a_value_changes_nothing() -> None:
    text = body(widget(title="TENANT_ID"))
    assert applied(text, [a_choice("pattern", "TENANT_ID", "")]) == text
