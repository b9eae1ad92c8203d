"""The registry items that the authorizer reads: what a key is worth, found by its hash.

Pure: DynamoDB items as attribute values (`{"S": ...}`, `{"N": ...}`), for infra to serialise. No key
value ever goes in, only its SHA-256.
"""

import hashlib
import json
from collections.abc import Mapping

from tenants.models import ApiKey, Tenant, Tier

AttributeValue = Mapping[str, object]
Item = dict[str, AttributeValue]


def key_hash(value: str) -> str:
    """SHA-256 of an API key's value, 64 hexadecimal digits."""
    return hashlib.sha256(value.encode()).hexdigest()


def body_limit(tenant: Tenant, tier: Tier) -> int:
    """The largest body in bytes that the tenant may send: the tier's, unless its file lowers it."""
    return tenant.operations.leads.body_limit_bytes or tier.body_limit_bytes


def operation_settings(tenant: Tenant) -> str:
    """JSON text per operation: `{"leads": {"windowSeconds": 86400, "keySource": "header-or-body"}}`."""
    leads = tenant.operations.leads
    settings = {"leads": {"windowSeconds": leads.window_seconds, "keySource": leads.key_source}}
    return json.dumps(settings, separators=(",", ":"))


def tenant_item(tenant: Tenant) -> Item:
    """The item of a tenant, `pk = tenant#<id>`."""
    return {
        "pk": {"S": f"tenant#{tenant.id}"},
        "kind": {"S": "tenant"},
        "tenantId": {"S": tenant.id},
        "name": {"S": tenant.name},
        "tier": {"S": tenant.tier},
        "status": {"S": tenant.status},
        "synthetic": {"BOOL": tenant.synthetic},
        "settings": {"S": operation_settings(tenant)},
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
        "bodyLimitBytes": {"N": str(body_limit(tenant, tier))},
        "operationSettings": {"S": operation_settings(tenant)},
    }
