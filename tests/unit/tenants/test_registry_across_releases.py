"""During an update, functions of two releases read one registry: each takes what the other wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from handlers.domain import registry_entry, tenant_config
from handlers.domain.caller import KEYED_OPERATIONS, Caller
from handlers.intake import settings_of
from ops.openapi.api import OPERATIONS
from tenants.loader import TenantSet, load_all
from tenants.registry import key_hash, key_item, tenant_item
from tests.fixtures.release_93ebed6 import caller as earlier_caller
from tests.fixtures.release_93ebed6 import registry_entry as earlier_entry
from tests.unit.tenants.files import TENANT, directory

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
EARLIER: dict[str, list[Any]] = json.loads(
    (ROOT / "tests/fixtures/release_93ebed6/items.json").read_text(encoding="utf-8")
)
EVERYTHING = """\
operations:
  leads: {windowSeconds: 60, keySource: header, bodyLimitBytes: 1024}
  orders: {keySource: header-or-body, bodyLimitBytes: 1025, destination: {url: "https://a.example/{id}"}}
  payments: {providerUrl: "https://pay.example/v1", checkpoint: true, lookup: false, windowSeconds: 3600}
  appointments: {windowSeconds: 20, keyFields: ["slot.at"], bodyLimitBytes: 1026}
"""


def key_items(found: TenantSet) -> Iterator[dict[str, Any]]:
    for tenant in found.tenants:
        for key in tenant.keys:
            yield key_item(tenant, found.tier_of(tenant), key, key_hash(f"{tenant.id}/{key.name}"))


def check_that_the_earlier_release_reads(found: TenantSet) -> None:
    items = list(key_items(found))
    assert items
    for item in items:
        context = earlier_entry.from_item(item).context()
        then = earlier_caller.Caller.from_context(context).operation_settings
        now = Caller.from_context(registry_entry.from_item(item).context()).operation_settings
        assert set(then) == set(now)
        assert (then["leads"].window_seconds, then["leads"].key_source) == (
            now["leads"].window_seconds,
            now["leads"].key_source,
        )


@pytest.mark.parametrize("tenants", ["tenants", "tests/tenants"])
def test_the_earlier_release_reads_the_keys_of_all_sample_tenants(tenants: str) -> None:
    check_that_the_earlier_release_reads(load_all(ROOT / tenants))


def test_the_earlier_release_reads_a_key_whose_tenant_sets_everything(tmp_path: Path) -> None:
    check_that_the_earlier_release_reads(load_all(directory(tmp_path, acme=TENANT + EVERYTHING)))


@pytest.mark.parametrize("kept", EARLIER["keys"], ids=lambda kept: str(kept["item"]["tenantId"]["S"]))
def test_the_earlier_releases_keys_are_read_and_new_operations_have_their_defaults(
    kept: dict[str, Any],
) -> None:
    caller = Caller.from_context(registry_entry.from_item(kept["item"]).context())
    leads = caller.operation_settings["leads"]
    assert {"windowSeconds": leads.window_seconds, "keySource": leads.key_source} == kept["leads"]
    assert leads.body_limit_bytes is None
    assert caller.body_limit_bytes == int(kept["item"]["bodyLimitBytes"]["N"])
    for operation in OPERATIONS.values():
        if operation.name in KEYED_OPERATIONS - {"leads"}:
            settings = settings_of(operation, caller)
            assert (settings.window_seconds, settings.key_source, settings.key_fields) == (
                *(operation.window_seconds, operation.key_source, operation.key_fields),
            )


@pytest.mark.parametrize("item", EARLIER["tenants"], ids=lambda item: str(item["tenantId"]["S"]))
def test_the_earlier_releases_tenants_are_read_and_have_no_sources(item: dict[str, Any]) -> None:
    config = tenant_config.from_item(item)
    assert (config.status, config.webhooks, config.orders_destination) == (item["status"]["S"], {}, None)


def test_what_a_later_release_adds_to_keys_and_tenants_is_left_alone(tmp_path: Path) -> None:
    found = load_all(directory(tmp_path, acme=TENANT + EVERYTHING))
    (item,) = key_items(found)
    settings = json.loads(item["operationSettings"]["S"])
    more = {**settings, "refunds": {"keySource": "charge"}, "visits": 7}
    more["leads"] = settings["leads"] | {"fresh": [1]}
    later = item | {"operationSettings": {"S": json.dumps(more)}, "fresh": {"SS": ["a"]}}
    read = [Caller.from_context(registry_entry.from_item(each).context()) for each in (item, later)]
    assert read[0] == read[1]
    (tenant,) = found.tenants
    known: dict[str, Any] = dict(tenant_item(tenant, found.tier_of(tenant)))
    assert tenant_config.from_item(known | {"fresh": {"N": "1"}}) == tenant_config.from_item(known)


def test_every_operation_with_a_key_is_known_to_the_reader_of_settings() -> None:
    assert {operation.name for operation in OPERATIONS.values()} - {"webhooks"} == KEYED_OPERATIONS
