"""The registry items: what the authorizer will find, and that no key value is among it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, get_args

from handlers.domain.gateway_policy import ROUTES
from tenants.keys import Permission
from tenants.loader import TenantSet, load_all
from tenants.registry import body_limit, key_hash, key_item, tenant_item
from tests.unit.tenants.files import TENANT, directory

if TYPE_CHECKING:
    from pathlib import Path

WEB = "keys: [{name: web, operations: [leads:create], origins: ['https://a.example', 'https://b.example']}]\n"


def loaded(tmp_path: Path, text: str) -> TenantSet:
    return load_all(directory(tmp_path, acme=text))


def test_the_item_of_a_key_is_all_that_the_authorizer_needs(tmp_path: Path) -> None:
    text = TENANT.replace("keys: [server]\n", WEB) + (
        "status: suspended\n"
        "operations: {leads: {windowSeconds: 60, keySource: header, bodyLimitBytes: 1024}}\n"
    )
    everything = loaded(tmp_path, text)
    (tenant,) = everything.tenants
    assert key_item(tenant, everything.tier_of(tenant), tenant.keys[0], "ab" * 32) == {
        "pk": {"S": "key#" + "ab" * 32},
        "kind": {"S": "key"},
        "tenantId": {"S": "acme"},
        "keyName": {"S": "web"},
        "status": {"S": "suspended"},
        "tier": {"S": "small"},
        "operations": {"L": [{"S": "leads:create"}]},
        "origins": {"L": [{"S": "https://a.example"}, {"S": "https://b.example"}]},
        "bodyLimitBytes": {"N": "1024"},
        "operationSettings": {"S": '{"leads":{"windowSeconds":60,"keySource":"header"}}'},
    }


def test_the_item_of_a_tenant_says_what_its_file_says(tmp_path: Path) -> None:
    (tenant,) = loaded(tmp_path, TENANT + "synthetic: true\n").tenants
    item = tenant_item(tenant)
    settings = item.pop("settings")
    assert item == {
        "pk": {"S": "tenant#acme"},
        "kind": {"S": "tenant"},
        "tenantId": {"S": "acme"},
        "name": {"S": "Acme"},
        "tier": {"S": "small"},
        "status": {"S": "active"},
        "synthetic": {"BOOL": True},
    }
    assert json.loads(str(settings["S"])) == {
        "leads": {"windowSeconds": 86_400, "keySource": "header-or-body"}
    }


def test_the_body_limit_is_the_tiers_unless_the_file_lowers_it(tmp_path: Path) -> None:
    plain = loaded(tmp_path, TENANT)
    assert body_limit(plain.tenants[0], plain.tiers["small"]) == 2048
    lowered = loaded(tmp_path, TENANT + "operations: {leads: {bodyLimitBytes: 2000}}\n")
    assert body_limit(lowered.tenants[0], lowered.tiers["small"]) == 2000


def test_a_key_is_found_by_the_sha256_of_its_value_alone() -> None:
    assert key_hash("s3cret") == hashlib.sha256(b"s3cret").hexdigest()
    assert len({key_hash(value) for value in ("", "a", "a ", "A")}) == 4


def test_the_permissions_of_files_are_the_permissions_that_the_handlers_grant() -> None:
    known = {name for name in get_args(Permission) if name != "*"}
    assert known == set(ROUTES)
