"""A few everyday requests of tenants that no storm touches, so that the demo shows their dashboards alive."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import httpx

from ops.openapi.examples import BODIES
from ops.webhook_signing import event_id_of, headers_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ops.local.outputs import LocalOutputs, TenantOutputs
    from tenants.models import Tenant
    from tenants.webhooks import WebhookSource

# The first request of a function starts its process, on a machine that is busy with that.
_TIMEOUT_SECONDS: Final = 60.0
_WEBHOOKS: Final = "webhooks"
# These take the key from the body.
_WITHOUT_KEY: Final = frozenset({"appointments"})
# Each is sent again: a duplicate is what the product is for.
_TIMES: Final = 2


@dataclass(frozen=True)
class _Call:
    url: str
    headers: dict[str, str]
    body: bytes


def send(tenants: Iterable[Tenant], outputs: LocalOutputs) -> list[str]:
    """Send each operation's example for each of the tenants, and once more.

    Returns:
        what went wrong, a line each; nothing, if every answer was a 2xx.
    """
    wrong = []
    with httpx.Client(timeout=_TIMEOUT_SECONDS, trust_env=False) as client:
        for tenant in tenants:
            for call in _calls(tenant, outputs):
                wrong += [said for said in (_sent(client, call) for _ in range(_TIMES)) if said]
    return wrong


def _sent(client: httpx.Client, call: _Call) -> str | None:
    try:
        answer = client.post(call.url, headers=call.headers, content=call.body)
    except httpx.HTTPError as error:
        return f"{call.url}: {type(error).__name__}: {error}"
    return None if answer.is_success else f"{call.url}: {answer.status_code} {answer.text}"


def _calls(tenant: Tenant, outputs: LocalOutputs) -> Iterator[_Call]:
    known = outputs.tenants[tenant.id]
    key = known.keys.get("server") or next(iter(known.keys.values()))
    for operation, body in BODIES.items():
        if operation == _WEBHOOKS:
            continue
        headers = {"content-type": "application/json", "x-api-key": key}
        if operation not in _WITHOUT_KEY:
            headers["idempotency-key"] = f"sample-{uuid.uuid4().hex}"
        yield _Call(f"{outputs.api_url}/v1/{operation}", headers, json.dumps(body).encode())
    for name, source in tenant.operations.webhooks.sources.items():
        yield _webhook(name, source, known)


def _webhook(name: str, source: WebhookSource, known: TenantOutputs) -> _Call:
    event: dict[str, Any] = {**BODIES[_WEBHOOKS], "id": f"evt_{uuid.uuid4().hex}"}
    body = json.dumps(event).encode()
    at = known.webhooks[name]
    headers = headers_for(source, at.secret, body, event_id_of(source, body, None), int(time.time()))
    return _Call(at.url, headers, body)
