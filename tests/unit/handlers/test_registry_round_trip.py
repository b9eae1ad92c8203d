"""What the tenants' files become is what the functions read: writer and reader share no code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from handlers.domain.errors import InvalidBody
from handlers.domain.tenant_config import from_item
from handlers.domain.webhook_identity import event_id
from handlers.domain.webhook_proof import Proof
from tenants.loader import check_text, load_all
from tenants.registry import tenant_item

if TYPE_CHECKING:
    from handlers.domain.json_text import JsonValue

ROOT = Path(__file__).parents[3]
SENDERS = """\
id: senders
name: Senders
tier: starter
stages: [local]
keys: [server]
operations:
  orders: { destination: { url: 'https://erp.example.com/orders', method: POST } }
  webhooks:
    sources:
      stripe: { preset: stripe }
      github: { preset: github, destination: { url: 'https://crm.example.com/events/{id}' } }
      shopify: { preset: shopify }
      forms: { preset: static-forms }
      standard: { preset: standard-webhooks, toleranceSeconds: 60, windowSeconds: 2592000 }
      own: { scheme: header, header: X-Token, identity: { path: id, header: X-Id } }
"""


@pytest.mark.parametrize("directory", ["tenants", "tests/tenants"])
def test_every_tenant_of_the_repository_can_be_read_and_its_sources_used(directory: str) -> None:
    found = load_all(ROOT / directory)
    for tenant in found.tenants:
        config = from_item(tenant_item(tenant, found.tier_of(tenant)))
        assert (config.tenant_id, config.status) == (tenant.id, tenant.status)
        assert set(config.webhooks) == set(tenant.operations.webhooks.sources)
        for source in config.webhooks.values():
            # Its expressions are compiled; an empty body has no event.
            with pytest.raises(InvalidBody):
                event_id(source.identity, {}, {})


def test_presets_arrive_as_explicit_settings() -> None:
    path = ROOT / "tenants" / "senders.yaml"
    tenant = check_text(path, SENDERS)
    config = from_item(tenant_item(tenant, load_all(path.parent).tiers[tenant.tier]))
    proofs = {name: source.proof for name, source in config.webhooks.items()}
    assert proofs == {
        "stripe": Proof("stripe", None, 300),
        "github": Proof("github", None, 300),
        "shopify": Proof("shopify", None, 300),
        "forms": Proof("bearer", None, 300),
        "standard": Proof("standard-webhooks", None, 60),
        "own": Proof("header", "X-Token", 300),
    }
    body: JsonValue = {"id": "e1", "event": "submitted", "data": {"submissionId": "s1"}}
    headers = {name: ["e1"] for name in ("x-github-delivery", "x-shopify-webhook-id", "webhook-id", "x-id")}
    assert {name: event_id(source.identity, headers, body) for name, source in config.webhooks.items()} == {
        "stripe": "e1",
        "github": "e1",
        "shopify": "e1",
        "forms": "staticforms:submitted:s1",
        "standard": "e1",
        "own": "e1",
    }
    assert config.orders_destination is not None
    assert (config.orders_destination.method, config.webhooks["stripe"].destination) == ("POST", None)
    destination = config.webhooks["github"].destination
    assert destination is not None
    assert destination.method == "PUT"
