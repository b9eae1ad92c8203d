"""What a running local platform tells its users: `.onceward/local.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops.local.emulator import Endpoint
from ops.local.errors import LocalPlatformError
from ops.local.files import read_json, write_private

Webhooks = Mapping[str, Mapping[str, Any]]
"""One tenant's sources as the file has them, each with `url`, `scheme`, `header` and `secret`."""


@dataclass(frozen=True)
class WebhookOutputs:
    """One source of a tenant: where its sender posts, and how and with what it proves itself."""

    url: str
    scheme: str
    header: str | None
    """The header that holds the secret, for the scheme `header`."""
    secret: str


@dataclass(frozen=True)
class TenantOutputs:
    """One tenant's: the values of its API keys by name, its topic, its audit queue (None without one)."""

    keys: Mapping[str, str]
    topic_arn: str
    audit_queue_url: str | None
    tier: str
    status: str
    synthetic: bool
    webhooks: Mapping[str, WebhookOutputs]
    """By source, as the tenant's file has them."""


@dataclass(frozen=True)
class LocalOutputs:
    """The stack's outputs, and the emulator's address and admin credentials."""

    api_url: str
    endpoint_url: str
    access_key_id: str
    secret_access_key: str
    region: str
    stage: str
    tables: Mapping[str, str]
    functions: Mapping[str, Mapping[str, str]]
    tenants: Mapping[str, TenantOutputs]
    stand_in_url: str | None
    """Where the stand-in for what is outside AWS answers."""


def write(
    path: Path,
    stack_outputs: Mapping[str, Any],
    endpoint: Endpoint,
    stand_in_url: str,
    webhooks: Mapping[str, Webhooks],
) -> None:
    """Write the file, readable by the user only: it holds key values, credentials and senders' secrets."""
    tenants = {
        name: {**tenant, "webhooks": webhooks.get(name, {})}
        for name, tenant in stack_outputs["tenants"].items()
    }
    document = {
        "apiUrl": stack_outputs["apiUrl"],
        "endpointUrl": endpoint.url,
        "accessKeyId": endpoint.access_key_id,
        "secretAccessKey": endpoint.secret_access_key,
        "standInUrl": stand_in_url,
        **{name: stack_outputs[name] for name in ("region", "stage", "tables", "functions")},
        "tenants": tenants,
    }
    write_private(path, json.dumps(document, indent=2))


def write_secret(path: Path, tenant_id: str, source: str, secret: str) -> None:
    """Put a sender's new secret into the file, if there is such a file and source."""
    document = read_json(path)
    known = document and document["tenants"].get(tenant_id, {}).get("webhooks", {}).get(source)
    if document is not None and known is not None:
        known["secret"] = secret
        write_private(path, json.dumps(document, indent=2))


def read(path: Path) -> LocalOutputs:
    """Read the file. Raises LocalPlatformError if the platform is not up here."""
    document = read_json(path)
    if document is None:
        raise LocalPlatformError(f"{path}: no such file: the platform is down; bring it up first (`make up`)")
    return LocalOutputs(
        api_url=document["apiUrl"],
        endpoint_url=document["endpointUrl"],
        access_key_id=document["accessKeyId"],
        secret_access_key=document["secretAccessKey"],
        region=document["region"],
        stage=document["stage"],
        tables=document["tables"],
        functions=document["functions"],
        tenants={name: _tenant(tenant) for name, tenant in document["tenants"].items()},
        stand_in_url=document.get("standInUrl"),
    )


def _tenant(document: Mapping[str, Any]) -> TenantOutputs:
    return TenantOutputs(
        keys=document["keys"],
        topic_arn=document["topicArn"],
        audit_queue_url=document.get("auditQueueUrl"),
        tier=document["tier"],
        status=document["status"],
        synthetic=document["synthetic"],
        webhooks={name: WebhookOutputs(**source) for name, source in document.get("webhooks", {}).items()},
    )
