"""The registry items: what the functions will find, and that no key value or secret is among it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest

from handlers.domain import registry_entry, tenant_config
from handlers.domain.caller import Caller, parse_operation_settings
from handlers.domain.gateway_policy import ROUTES
from handlers.domain.payment_provider import ProviderOptions
from ops.openapi.api import OPERATIONS
from tenants.keys import Permission
from tenants.loader import TenantSet, load_all
from tenants.presets import Scheme
from tenants.registry import MAX_CONTEXT_BYTES, context_bytes, key_hash, key_item, tenant_item
from tests.unit.tenants.files import TENANT, TIERS, directory, spelt

if TYPE_CHECKING:
    from tenants.models import Tenant

SAMPLES = load_all(Path(__file__).resolve().parents[3] / "tenants")
WEB = "keys: [{name: web, operations: [leads:create], origins: ['https://a.example', 'https://b.example']}]\n"
DEFAULTS = {
    "leads": {"windowSeconds": 86_400, "keySource": "header-or-body"},
    "orders": {"windowSeconds": 86_400, "keySource": "header"},
    "appointments": {
        "windowSeconds": 10,
        "keySource": "header",
        "keyFields": ["doctorId", "patientId", "startsAt"],
    },
}
EVERYTHING = """\
operations:
  leads: {windowSeconds: 60, keySource: header, bodyLimitBytes: 1024}
  orders: {bodyLimitBytes: 1025, destination: {url: "https://a.example/{id}"}}
  payments: {providerUrl: "https://pay.example/v1", checkpoint: true, lookup: false, windowSeconds: 3600}
  appointments: {windowSeconds: 20, keyFields: [doctorId, "slot.at"]}
  webhooks:
    sources:
      forms: {preset: static-forms, scheme: header, header: X-Secret, bodyLimitBytes: 1026}
      git: {preset: github, destination: {url: "https://a.example/git", method: POST}}
"""


def loaded(tmp_path: Path, text: str) -> TenantSet:
    return load_all(directory(tmp_path, acme=text))


def test_the_item_of_a_key_is_all_that_the_authorizer_needs(tmp_path: Path) -> None:
    everything = loaded(tmp_path, TENANT.replace("keys: [server]\n", WEB) + "status: suspended\n")
    (tenant,) = everything.tenants
    item = key_item(tenant, everything.tier_of(tenant), tenant.keys[0], "ab" * 32)
    settings = item.pop("operationSettings")
    assert item == {
        "pk": {"S": "key#" + "ab" * 32},
        "kind": {"S": "key"},
        "tenantId": {"S": "acme"},
        "keyName": {"S": "web"},
        "status": {"S": "suspended"},
        "tier": {"S": "small"},
        "operations": {"L": [{"S": "leads:create"}]},
        "origins": {"L": [{"S": "https://a.example"}, {"S": "https://b.example"}]},
        "bodyLimitBytes": {"N": "2048"},
    }
    assert json.loads(str(settings["S"])) == DEFAULTS


def test_what_a_file_sets_for_an_operation_is_in_its_settings(tmp_path: Path) -> None:
    everything = loaded(tmp_path, TENANT + EVERYTHING)
    (tenant,) = everything.tenants
    assert json.loads(str(tenant_item(tenant, everything.tier_of(tenant))["settings"]["S"])) == {
        "leads": {"windowSeconds": 60, "keySource": "header", "bodyLimitBytes": 1024},
        "orders": {"windowSeconds": 86_400, "keySource": "header", "bodyLimitBytes": 1025},
        "appointments": {
            "windowSeconds": 20,
            "keySource": "header",
            "keyFields": ["doctorId", "slot.at"],
        },
        "payments": {
            "windowSeconds": 3_600,
            "keySource": "header",
            "options": {
                "providerUrl": "https://pay.example/v1",
                "checkpoint": True,
                "lookup": False,
                "honoursSeconds": 86_400,
            },
        },
    }


def test_the_item_of_a_tenant_says_what_its_file_says(tmp_path: Path) -> None:
    everything = loaded(tmp_path, TENANT + "synthetic: true\n" + EVERYTHING)
    (tenant,) = everything.tenants
    item = tenant_item(tenant, everything.tier_of(tenant))
    webhooks, orders = (json.loads(str(item.pop(name)["S"])) for name in ("webhooks", "orders"))
    del item["settings"]
    assert item == {
        "pk": {"S": "tenant#acme"},
        "kind": {"S": "tenant"},
        "tenantId": {"S": "acme"},
        "name": {"S": "Acme"},
        "tier": {"S": "small"},
        "status": {"S": "active"},
        "synthetic": {"BOOL": True},
    }
    assert orders == {"destination": {"url": "https://a.example/{id}", "method": "PUT"}}
    assert webhooks == {
        "forms": {
            "proof": {"scheme": "header", "header": "X-Secret", "toleranceSeconds": 300},
            "identity": {
                "path": "data.submissionId",
                "header": None,
                "template": "staticforms:{event}:{data.submissionId}",
            },
            "windowSeconds": 2_592_000,
            "bodyLimitBytes": 1026,
            "destination": None,
        },
        "git": {
            "proof": {"scheme": "github", "header": None, "toleranceSeconds": 300},
            "identity": {"path": None, "header": "X-GitHub-Delivery", "template": ""},
            "windowSeconds": 2_592_000,
            "bodyLimitBytes": 2048,
            "destination": {"url": "https://a.example/git", "method": "POST"},
        },
    }


def test_a_key_is_found_by_the_sha256_of_its_value_alone() -> None:
    assert key_hash("s3cret") == hashlib.sha256(b"s3cret").hexdigest()
    assert len({key_hash(value) for value in ("", "a", "a ", "A")}) == 4


def test_the_permissions_of_files_are_the_permissions_that_the_handlers_grant() -> None:
    known = {name for name in get_args(Permission) if name != "*"}
    assert known == set(ROUTES)


def test_what_a_file_leaves_out_is_what_the_operations_do_by_themselves(tmp_path: Path) -> None:
    text = TENANT + "operations: {payments: {providerUrl: 'https://pay.example'}}\n"
    everything = loaded(tmp_path, text)
    (tenant,) = everything.tenants
    settings = parse_operation_settings(str(tenant_item(tenant, everything.tiers["small"])["settings"]["S"]))
    # Webhooks' settings are in the tenant's item.
    known = [operation for operation in OPERATIONS.values() if operation.name != "webhooks"]
    assert set(settings) == {operation.name for operation in known}
    for operation in known:
        by_file = settings[operation.name]
        assert (by_file.window_seconds, by_file.key_source) == (
            operation.window_seconds,
            operation.key_source,
        )
        assert by_file.key_fields == getattr(operation, "key_fields", ())
    bare = replace(settings["payments"], options={"providerUrl": "https://pay.example"})
    assert ProviderOptions.of(settings["payments"]) == ProviderOptions.of(bare)


@pytest.mark.parametrize("scheme", get_args(Scheme))
def test_every_scheme_of_a_file_is_one_that_the_receiver_checks(tmp_path: Path, scheme: str) -> None:
    header = ", header: X-Secret" if scheme == "header" else ""
    source = f"{{scheme: {scheme}, identity: {{path: id}}{header}}}"
    everything = loaded(tmp_path, TENANT + f"operations: {{webhooks: {{sources: {{forms: {source}}}}}}}\n")
    config = tenant_config.from_item(tenant_item(everything.tenants[0], everything.tiers["small"]))
    assert config.webhooks["forms"].proof.scheme == scheme


@pytest.mark.parametrize("tenant", SAMPLES.tenants, ids=lambda tenant: str(tenant.id))
def test_the_functions_read_what_the_samples_items_say(tenant: Tenant) -> None:
    tier = SAMPLES.tier_of(tenant)
    config = tenant_config.from_item(tenant_item(tenant, tier))
    assert (config.tenant_id, config.status) == (tenant.id, tenant.status)
    assert set(config.webhooks) == set(tenant.operations.webhooks.sources)
    for name, source in tenant.operations.webhooks.sources.items():
        read = config.webhooks[name]
        assert (read.window_seconds, read.proof.scheme) == (source.window_seconds, source.proof_scheme)
        assert (read.destination is None) == (source.destination is None)
    for key in tenant.keys:
        entry = registry_entry.from_item(key_item(tenant, tier, key, key_hash("value")))
        caller = Caller.from_context(entry.context())
        assert caller.operation_settings["leads"].key_source == tenant.operations.leads.key_source
        assert caller.operation_settings["appointments"].key_fields
        assert ("payments" in caller.operation_settings) == (tenant.operations.payments is not None)


@pytest.mark.parametrize("tenant", SAMPLES.tenants, ids=lambda tenant: str(tenant.id))
def test_the_context_is_as_large_as_the_loader_believes(tenant: Tenant) -> None:
    tier = SAMPLES.tier_of(tenant)
    for key in tenant.keys:
        context = registry_entry.from_item(key_item(tenant, tier, key, "ab")).context()
        assert len(json.dumps(context, ensure_ascii=False).encode()) == context_bytes(tenant, tier, key)


def _largest(origins: int) -> str:
    fields = ", ".join(f'"{letter * 120}"' for letter in "abcde")
    listed = ", ".join(f"'https://{'x' * 190}{number}.example'" for number in range(origins))
    permissions = ", ".join(name for name in get_args(Permission) if name != "*")
    return f"""\
id: acme
name: Acme
tier: small
stages: [local]
keys: [{{name: {"k" * 32}, operations: [{permissions}], origins: [{listed}]}}]
operations:
  leads: {{windowSeconds: 2592000, bodyLimitBytes: 1024}}
  orders: {{windowSeconds: 2592000, keySource: header-or-body, bodyLimitBytes: 1024}}
  payments: {{providerUrl: "https://pay.example/{"p" * 480}", windowSeconds: 2592000, bodyLimitBytes: 1024}}
  appointments: {{windowSeconds: 2592000, keyFields: [{fields}], bodyLimitBytes: 1024}}
"""


def test_the_largest_settings_leave_half_of_the_context_to_origins(tmp_path: Path) -> None:
    everything = loaded(tmp_path, _largest(origins=20))
    (tenant,) = everything.tenants
    assert context_bytes(tenant, everything.tier_of(tenant), tenant.keys[0]) < MAX_CONTEXT_BYTES


def test_a_context_over_the_limit_stops_the_update(tmp_path: Path) -> None:
    (fault,) = spelt(directory(tmp_path, acme=_largest(origins=40)))
    assert fault.startswith(
        "acme.yaml:5: keys[0]: must leave the authorizer's context at most 8192 bytes (is "
    )


def test_the_body_limit_of_a_key_is_the_tiers(tmp_path: Path) -> None:
    everything = loaded(tmp_path, TENANT + "operations: {leads: {bodyLimitBytes: 2000}}\n")
    (tenant,) = everything.tenants
    assert "bodyLimitBytes: 2048" in TIERS
    assert key_item(tenant, everything.tier_of(tenant), tenant.keys[0], "ab")["bodyLimitBytes"] == {
        "N": "2048"
    }
