"""The exported JSON Schemas: current, usable, and of one mind with the loader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from infra.alarms import FUNCTIONS
from infra.resource_policies import tenant_topic
from tenants.document import Value, parse
from tenants.schema import export, outdated, schemas
from tests.infra.test_policies import ARNS
from tests.unit.tenants.files import TENANT

TENANTS = Path(__file__).resolve().parents[3] / "tenants"


def plain(value: Value) -> object:
    """The document's data as JSON has it (lists for tuples)."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def complaints(schema: str, text: str) -> list[str]:
    validator = Draft202012Validator(json.loads(schemas()[schema]))
    return [error.json_path for error in validator.iter_errors(plain(parse("f", text).data))]


def test_the_committed_schemas_are_current() -> None:
    assert outdated(TENANTS) == [], "run: onceward tenants schema"


@pytest.mark.parametrize("name", sorted(schemas()))
def test_a_schema_is_a_valid_schema(name: str) -> None:
    Draft202012Validator.check_schema(json.loads(schemas()[name]))


@pytest.mark.parametrize("path", sorted(TENANTS.glob("*.yaml")), ids=lambda path: str(path.stem))
def test_a_sample_passes_its_schema_and_names_it_for_editors(path: Path) -> None:
    schema = "tiers.schema.json" if path.name == "tiers.yaml" else "tenant.schema.json"
    text = path.read_text(encoding="utf-8")
    assert complaints(schema, text) == []
    assert text.startswith(f"# yaml-language-server: $schema=./{schema}\n")


@pytest.mark.parametrize(
    ("line", "where"),
    [
        *(("status: gone", "$.status"), ("colour: red", "$"), ("synthetic: 'yes'", "$.synthetic")),
        *(("keys: [a, b, c]", "$.keys"), ("keys: [Server]", "$.keys[0]"), ("stages: [Prod]", "$.stages[0]")),
        ("keys: [{name: a, operations: [leads:delete]}]", "$.keys[0]"),
        ("operations: {leads: {windowSeconds: 9}}", "$.operations.leads.windowSeconds"),
        ("operations: {leads: {window_seconds: 90}}", "$.operations.leads"),
        ("subscriptions: [{protocol: https, endpoint: 'http://a.example'}]", "$.subscriptions[0]"),
    ],
)
def test_the_schema_shows_what_the_loader_would_refuse(line: str, where: str) -> None:
    field = line.split(":", maxsplit=1)[0]
    kept = [old for old in TENANT.splitlines() if not old.startswith(f"{field}:")]
    assert complaints("tenant.schema.json", "\n".join([*kept, line])) == [where]


def test_a_tier_with_a_name_that_the_loader_refuses_fails_the_schema() -> None:
    assert complaints("tiers.schema.json", "Small: {}\n") == ["$"]


def test_a_tenants_own_key_is_told_of_every_role_that_publishes_to_its_topic() -> None:
    policy = json.dumps(tenant_topic("acme", ARNS, require_tls=True))
    publishers = {name for name in FUNCTIONS if ARNS.role(name) in policy}
    assert publishers == {"dispatch", "notify"}
    schema = json.loads(schemas()["tenant.schema.json"])["$defs"]["TenantEncryptionKey"]["description"]
    adr = (TENANTS.parent / "docs/adr/0015-tenants-stand-alone.md").read_text(encoding="utf-8")
    assert {name for name in FUNCTIONS if f"`{name}`" in schema} == publishers
    assert {name for name in FUNCTIONS if f"`{name}`" in adr} == publishers


def test_export_writes_what_is_missing_or_old_and_then_nothing(tmp_path: Path) -> None:
    (tmp_path / "tiers.schema.json").write_text("{}", encoding="utf-8")
    assert {path.name for path in export(tmp_path)} == set(schemas())
    assert (tmp_path / "tenant.schema.json").read_text(encoding="utf-8") == schemas()["tenant.schema.json"]
    assert export(tmp_path) == []
