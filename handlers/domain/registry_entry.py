"""What the registry holds of an API key, and what the gateway is told about it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

from handlers.domain.caller import DIGITS, TENANT_ID
from handlers.domain.errors import CorruptItem
from handlers.domain.json_text import parsed
from handlers.domain.metric_catalogue import DETAILED

if TYPE_CHECKING:
    from collections.abc import Mapping

KeyStatus = Literal["active", "suspended"]

ACTIVE: Final = "active"
_SUSPENDED: Final = "suspended"


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """One API key as the registry knows it; the key's value is nowhere in it.

    `operations`: permission words such as `leads:create`, or `*`. `origins`: web origins; empty means any.
    `body_limit_bytes`: bytes. `operation_settings`: JSON text, passed on as it is stored.
    `detailed_metrics`: whether the tenant has its metrics in detail.
    """

    tenant_id: str
    key_name: str
    status: KeyStatus
    tier: str
    operations: tuple[str, ...]
    origins: tuple[str, ...]
    body_limit_bytes: int
    operation_settings: str
    detailed_metrics: bool = False

    def context(self) -> dict[str, str]:
        """The authorizer's context: strings only, since a REST API passes on nothing else."""
        context = {
            "tenantId": self.tenant_id,
            "tier": self.tier,
            "keyName": self.key_name,
            "operations": ",".join(self.operations),
            "origins": ",".join(self.origins),
            "bodyLimitBytes": str(self.body_limit_bytes),
            "operationSettings": self.operation_settings,
        }
        return context | ({"metrics": DETAILED} if self.detailed_metrics else {})


def partition_key(api_key: str) -> str:
    """`key#<sha256 hex of the key's value>`: where the registry keeps an API key's entry."""
    # API Gateway makes these values: 40 random characters. A plain hash of so much randomness cannot be
    # guessed back, so neither a salt nor a slow hash would add anything.
    return f"key#{sha256(api_key.encode()).hexdigest()}"


def from_item(item: Mapping[str, Any]) -> KeyEntry:
    """The entry in a DynamoDB item (attribute values as boto3's client gives them).

    Raises:
        CorruptItem: a part is missing or has another shape; it names the tenant and the attribute,
            never the partition key (which is the hash).
    """
    tenant_id = _text(item, "tenantId", "an unnamed tenant")
    if not TENANT_ID.fullmatch(tenant_id):
        raise _corrupt("an unnamed tenant", "tenantId")
    return KeyEntry(
        tenant_id=tenant_id,
        key_name=_text(item, "keyName", tenant_id),
        status=_status(item, tenant_id),
        tier=_text(item, "tier", tenant_id),
        operations=_words(item, "operations", tenant_id),
        origins=_words(item, "origins", tenant_id),
        body_limit_bytes=_positive(item, "bodyLimitBytes", tenant_id),
        operation_settings=_json_object(item, "operationSettings", tenant_id),
        detailed_metrics=_value(item, "metrics", "S") == DETAILED,
    )


def _text(item: Mapping[str, Any], name: str, tenant_id: str) -> str:
    value = _value(item, name, "S")
    if not isinstance(value, str) or not value:
        raise _corrupt(tenant_id, name)
    return value


def _status(item: Mapping[str, Any], tenant_id: str) -> KeyStatus:
    # An unknown word must not pass for active: it raises, and the gateway answers 503.
    value = _text(item, "status", tenant_id)
    if value == ACTIVE:
        return "active"
    if value == _SUSPENDED:
        return "suspended"
    raise _corrupt(tenant_id, "status")


def _words(item: Mapping[str, Any], name: str, tenant_id: str) -> tuple[str, ...]:
    members = _value(item, name, "L")
    if not isinstance(members, list):
        raise _corrupt(tenant_id, name)
    words = [member.get("S") if isinstance(member, dict) else None for member in members]
    # The context joins them with commas, so a word that holds one would become two.
    if any(not isinstance(word, str) or not word or "," in word for word in words):
        raise _corrupt(tenant_id, name)
    return tuple(str(word) for word in words)


def _positive(item: Mapping[str, Any], name: str, tenant_id: str) -> int:
    value = _value(item, name, "N")
    # Digits of ASCII, and no more of them than DynamoDB's numbers have: Python reads only so many.
    if not isinstance(value, str) or not DIGITS.fullmatch(value) or int(value) < 1:
        raise _corrupt(tenant_id, name)
    return int(value)


def _json_object(item: Mapping[str, Any], name: str, tenant_id: str) -> str:
    text = _text(item, name, tenant_id)
    try:
        document = parsed(text)
    except ValueError:
        raise _corrupt(tenant_id, name) from None
    if not isinstance(document, dict):
        raise _corrupt(tenant_id, name)
    return text


def _value(item: Mapping[str, Any], name: str, kind: str) -> object:
    attribute = item.get(name)
    return attribute.get(kind) if isinstance(attribute, dict) else None


def _corrupt(tenant_id: str, name: str) -> CorruptItem:
    return CorruptItem(f"the registry entry of a key of {tenant_id} is malformed: {name}")
