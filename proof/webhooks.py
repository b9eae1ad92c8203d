"""Webhooks as they arrive: the real receiver, with a source's proof and its event's own id as the key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from handlers import webhooks
from handlers.domain.tenant_config import IdentityConfig, SourceConfig, TenantConfig
from handlers.domain.webhook_proof import Proof
from handlers.operations.webhooks import WEBHOOKS
from handlers.settings import WebhooksSettings
from proof.receipts import AskingStore
from proof.requests import Sent, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from proof.programs import Life

EVENT: Final = {"id": "evt_1", "type": "invoice.paid"}
CHANGED_EVENT: Final = EVENT | {"attempt": 2}
"""The same event as its sender spells it when it sends it again."""
_SECRET: Final = "s3cret"  # noqa: S105 - nobody's: it stands on both sides of the scheduler
# What the shipped tiers allow at least.
_BODY_LIMIT_BYTES: Final = 32_768


@dataclass(frozen=True)
class Webhook(Sent):
    """A delivery to a source of the tenant's; `key` is what the receiver has to make of the event's id."""

    source: str = "crm"

    @property
    def operation(self) -> str:
        """See `Sent`."""
        return "webhooks"

    @property
    def fingerprint(self) -> str:
        """Who it is to the rules, which compare it and nothing else: the body is no part of it (DESIGN 3)."""
        return f"{self.tenant}|{self.source}|{self.body['id']}"

    def event(self, name: str, arrival_ms: int) -> dict[str, Any]:
        """See `Sent`."""
        return {
            "resource": self.resource,
            "path": f"/v1/webhooks/{self.tenant}/{self.source}",
            "httpMethod": "POST",
            "multiValueHeaders": {
                "content-type": ["application/json"],
                "authorization": [f"Bearer {_SECRET}"],
            },
            "pathParameters": {"tenant": self.tenant, "source": self.source},
            "requestContext": {"requestId": f"request-{name}", "requestTimeEpoch": arrival_ms},
            "body": json.dumps(dict(self.body)),
            "isBase64Encoded": False,
        }


def webhook(
    body: Mapping[str, Any] = EVENT,
    *,
    tenant: str = "acme",
    source: str = "crm",
    window_seconds: int = WEBHOOKS.window_seconds,
) -> Webhook:
    """A delivery of the event `body` to `POST /v1/webhooks/{tenant}/{source}`."""
    return Webhook(
        "/v1/webhooks/{tenant}/{source}",
        body,
        {"windowSeconds": window_seconds},
        # Spelled out: a judge must not ask the code that it judges. The blank keeps it from every header.
        f" webhooks:{source}:{body['id']}",
        tenant,
        source,
    )


def received(sent: Webhook) -> Callable[[Life], dict[str, Any]]:
    """The program of a delivery that `webhooks` serves."""
    settings = WebhooksSettings("local", "receipts", "tenants", "/onceward/local/")

    def program(life: Life) -> dict[str, Any]:
        dependencies = webhooks.Dependencies(
            settings=settings,
            store=AskingStore(life.ask),
            tenants=_Known(sent.settings["windowSeconds"]),
            secrets=_OneSecret(),
            logger=silent(),
            clock_ms=life.clock_ms,
            randomness=life.randomness(),
        )
        return webhooks.receive(sent.event(life.name, life.started_ms), dependencies)

    return program


class _Known:
    """Config that every environment has at hand: reading it decides nothing, and writes nothing."""

    reads = 0

    def __init__(self, window_seconds: int) -> None:
        self._source = SourceConfig(
            proof=Proof("bearer", None, 300),
            identity=IdentityConfig(path="id", header=None, template=None),
            window_seconds=window_seconds,
            body_limit_bytes=_BODY_LIMIT_BYTES,
            destination=None,
        )

    def find(self, tenant_id: str) -> TenantConfig | None:
        """See `TenantConfigs`."""
        return TenantConfig(tenant_id, "active", {"crm": self._source, "shop": self._source}, None)


class _OneSecret:
    """Every source's senders know the same one."""

    reads = 0

    def find(self, tenant_id: str, name: str) -> tuple[str, ...]:
        """See `SecretStore`."""
        del tenant_id, name
        return (_SECRET,)
