"""What a running local platform tells its users: `.onceward/local.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops.local.emulator import Endpoint
from ops.local.errors import LocalPlatformError
from ops.local.files import read_json, write_private


@dataclass(frozen=True)
class TenantOutputs:
    """One tenant's: the values of its API keys by name, its topic, its audit queue (None without one)."""

    keys: Mapping[str, str]
    topic_arn: str
    audit_queue_url: str | None
    tier: str
    status: str
    synthetic: bool


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


def write(path: Path, stack_outputs: Mapping[str, Any], endpoint: Endpoint) -> None:
    """Write the file, readable by the user only: it holds key values and credentials."""
    document = {
        "apiUrl": stack_outputs["apiUrl"],
        "endpointUrl": endpoint.url,
        "accessKeyId": endpoint.access_key_id,
        "secretAccessKey": endpoint.secret_access_key,
        **{name: stack_outputs[name] for name in ("region", "stage", "tables", "functions", "tenants")},
    }
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
    )


def _tenant(document: Mapping[str, Any]) -> TenantOutputs:
    return TenantOutputs(
        keys=document["keys"],
        topic_arn=document["topicArn"],
        audit_queue_url=document.get("auditQueueUrl"),
        tier=document["tier"],
        status=document["status"],
        synthetic=document["synthetic"],
    )
