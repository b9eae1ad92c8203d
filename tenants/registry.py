"""The registry items that the functions read: what a key is worth, and what a tenant receives and sends.

Pure: DynamoDB items as attribute values (`{"S": ...}`, `{"N": ...}`), for infra to serialise. No key
value ever goes in, only its SHA-256, and no secret: those are in the stage's parameter store.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from tenants.destinations import Destination
from tenants.models import ApiKey, Tenant, Tier
from tenants.operations import AppointmentsSettings, LeadsSettings, OrdersSettings, PaymentsSettings
from tenants.webhooks import WebhookSource

AttributeValue = Mapping[str, object]
Item = dict[str, AttributeValue]
Json = dict[str, object]

# AWS publishes no limit of its own for a REST API's authorizer; the least number that it names anywhere is
# 8 KB, for WebSocket APIs (repost.aws, "lambda authorizer for api gateway maximum size of returned policy").
MAX_CONTEXT_BYTES: Final = 8_192


def key_hash(value: str) -> str:
    """SHA-256 of an API key's value, 64 hexadecimal digits."""
    return hashlib.sha256(value.encode()).hexdigest()


def operation_settings(tenant: Tenant) -> str:
    """JSON text per operation: `{"leads": {"windowSeconds": 86400, "keySource": "header-or-body"}, ...}`.

    `payments` is there only where the tenant has a provider.
    """
    operations = tenant.operations
    settings = {
        "leads": _keyed(operations.leads),
        "orders": _keyed(operations.orders),
        "appointments": _appointments(operations.appointments),
    }
    if operations.payments is not None:
        settings["payments"] = _payments(operations.payments)
    return _compact(settings)


def tenant_item(tenant: Tenant, tier: Tier) -> Item:
    """The item of a tenant, `pk = tenant#<id>`: presets are written out, the tier's limits filled in."""
    orders = tenant.operations.orders
    webhooks = {
        name: source_settings(source, tier) for name, source in tenant.operations.webhooks.sources.items()
    }
    return {
        "pk": {"S": f"tenant#{tenant.id}"},
        "kind": {"S": "tenant"},
        "tenantId": {"S": tenant.id},
        "name": {"S": tenant.name},
        "tier": {"S": tenant.tier},
        "status": {"S": tenant.status},
        "synthetic": {"BOOL": tenant.synthetic},
        "settings": {"S": operation_settings(tenant)},
        "webhooks": {"S": _compact(webhooks)},
        "orders": {"S": _compact({"destination": _destination(orders.destination)})},
        **_metrics(tenant),
    }


def key_item(tenant: Tenant, tier: Tier, key: ApiKey, hashed: str) -> Item:
    """The item of one key, `pk = key#<hashed>`; `hashed` is `key_hash` of the key's value."""
    return {
        "pk": {"S": f"key#{hashed}"},
        "kind": {"S": "key"},
        "tenantId": {"S": tenant.id},
        "keyName": {"S": key.name},
        "status": {"S": tenant.status},
        "tier": {"S": tenant.tier},
        "operations": {"L": [{"S": operation} for operation in key.operations]},
        "origins": {"L": [{"S": origin} for origin in key.origins]},
        "bodyLimitBytes": {"N": str(tier.body_limit_bytes)},
        "operationSettings": {"S": operation_settings(tenant)},
        **_metrics(tenant),
    }


def _metrics(tenant: Tenant) -> Item:
    # Only where it is not the default: what is not there costs no byte of the context.
    return {"metrics": {"S": "detailed"}} if tenant.metrics == "detailed" else {}


def context_bytes(tenant: Tenant, tier: Tier, key: ApiKey) -> int:
    """How large the authorizer's context of a key is, as JSON in UTF-8 (a test compares it with the real)."""
    context = {
        "tenantId": tenant.id,
        "tier": tenant.tier,
        "keyName": key.name,
        "operations": ",".join(key.operations),
        "origins": ",".join(key.origins),
        "bodyLimitBytes": str(tier.body_limit_bytes),
        "operationSettings": operation_settings(tenant),
        **({"metrics": "detailed"} if tenant.metrics == "detailed" else {}),
    }
    return len(json.dumps(context, ensure_ascii=False).encode())


def _keyed(settings: LeadsSettings | OrdersSettings) -> Json:
    return {
        "windowSeconds": settings.window_seconds,
        "keySource": settings.key_source,
        **_limit(settings.body_limit_bytes),
    }


def _payments(settings: PaymentsSettings) -> Json:
    return {
        "windowSeconds": settings.window_seconds,
        "keySource": "header",
        **_limit(settings.body_limit_bytes),
        "options": {
            "providerUrl": settings.provider_url,
            "checkpoint": settings.checkpoint,
            "lookup": settings.lookup,
            "honoursSeconds": settings.honours_seconds,
        },
    }


def _appointments(settings: AppointmentsSettings) -> Json:
    return {
        "windowSeconds": settings.window_seconds,
        # Functions of the release before read the same item during an update, and refuse a word that they do
        # not know; a member that they do not know they leave alone. `keyFields` says all that counts.
        "keySource": "header",
        "keyFields": list(settings.key_fields),
        **_limit(settings.body_limit_bytes),
    }


def _limit(body_limit_bytes: int | None) -> Json:
    # Only where it lowers the tier's: what is not there costs no byte of the context.
    return {} if body_limit_bytes is None else {"bodyLimitBytes": body_limit_bytes}


def source_settings(source: WebhookSource, tier: Tier) -> Json:
    """What counts of a source: its preset written out, the tier's limit filled in."""
    identity = source.event_identity
    return {
        "proof": {
            "scheme": source.proof_scheme,
            "header": source.header,
            "toleranceSeconds": source.tolerance_seconds,
        },
        "identity": {
            "path": identity.path,
            "header": identity.header,
            "template": identity.filled_template,
        },
        "windowSeconds": source.window_seconds,
        "bodyLimitBytes": source.body_limit_bytes or tier.body_limit_bytes,
        "destination": _destination(source.destination),
    }


def _destination(destination: Destination | None) -> Json | None:
    return None if destination is None else {"url": destination.url, "method": destination.method}


def _compact(value: Mapping[str, object]) -> str:
    return json.dumps(value, separators=(",", ":"))
