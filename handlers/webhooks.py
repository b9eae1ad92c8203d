"""`webhooks`: takes in what other systems send. The proof first, then one conditional write, one log line."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from aws_lambda_powertools import Logger

from handlers import http, http_request, intake
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.adapters.secrets import SsmSecrets
from handlers.adapters.tenant_config import DynamoDbTenantConfigs
from handlers.adapters.webhook_trace import FUNCTION, WebhookTrace
from handlers.domain import canonical_json, webhook_identity
from handlers.domain.accept import Accepted, accept
from handlers.domain.caller import TENANT_ID, OperationSettings
from handlers.domain.errors import Forbidden, InvalidBody
from handlers.domain.json_text import compact
from handlers.domain.request import Request
from handlers.domain.webhook_proof import Sent, Unproven, verify
from handlers.operations import webhooks as operation
from handlers.settings import WebhooksSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.accept import Outcome
    from handlers.domain.ports import ReceiptStore
    from handlers.domain.receipt import StoredResponse
    from handlers.domain.tenant_config import SourceConfig, TenantConfig, TenantConfigs
    from handlers.http_request import HttpRequest


class Secrets(Protocol):
    """`SecretStore`, and how often it had to look."""

    @property
    def reads(self) -> int:
        """How many reads were made in the life of this process."""

    def find(self, tenant_id: str, name: str) -> tuple[str, ...]:
        """See `SecretStore.find`."""


@dataclass(frozen=True)
class Dependencies:
    """What the handler works with; tests bring their own. See `handlers.ingest.Dependencies`."""

    settings: WebhooksSettings
    store: ReceiptStore
    tenants: TenantConfigs
    secrets: Secrets
    logger: Logger
    clock_ms: Callable[[], int]
    randomness: Callable[[], str]

    @property
    def config_reads(self) -> int:
        """Reads of config and secrets so far; most requests add none."""
        return self.tenants.reads + self.secrets.reads


@dataclass(frozen=True)
class _Sender:
    """Who has sent the request, proved."""

    tenant: TenantConfig
    source: str
    config: SourceConfig


@cache
def _dependencies() -> Dependencies:
    settings = WebhooksSettings.from_environment()
    return Dependencies(
        settings=settings,
        store=DynamoDbReceipts(settings.receipts_table),
        tenants=DynamoDbTenantConfigs(settings.tenants_table),
        secrets=SsmSecrets(settings.secrets_prefix),
        logger=Logger(service=FUNCTION),
        clock_ms=lambda: time.time_ns() // 1_000_000,
        randomness=lambda: uuid.uuid4().hex,
    )


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answer one REST API proxy event; never raises for what a request or an outage can cause."""
    return receive(event, _dependencies())


def receive(event: Mapping[str, Any], dependencies: Dependencies) -> dict[str, Any]:
    """Take in the event of a REST API (v1) proxy event once, and answer it. Never raises."""
    request = http_request.parse(event)
    trace = WebhookTrace(dependencies.logger, dependencies.settings.stage, request)

    def work() -> dict[str, Any]:
        outcome = _received(event, request, dependencies, trace)
        result = http.answer(_answer(outcome))
        trace.succeeded(outcome)
        return result

    # No origin is let in: webhooks come from servers.
    return intake.respond(request, trace, (), work)


def _received(
    event: Mapping[str, Any], request: HttpRequest, dependencies: Dependencies, trace: WebhookTrace
) -> Outcome:
    reads_before = dependencies.config_reads
    try:
        sender = _proved(event.get("pathParameters") or {}, request, dependencies, trace)
    finally:
        trace.config_reads = dependencies.config_reads - reads_before
    if sender.tenant.status != "active":
        raise Forbidden("this tenant is suspended")
    checked = _checked(request, sender, dependencies)
    trace.attempt = checked.owner
    # A webhook's key is never looked for in a header: it is derived from the event's id.
    settings = OperationSettings(sender.config.window_seconds, "header")
    before_store = time.perf_counter()
    try:
        return accept(dependencies.store, operation.WEBHOOKS, settings, checked)
    finally:
        trace.store_ms = (time.perf_counter() - before_store) * 1000


def _proved(
    path: Mapping[str, Any], request: HttpRequest, dependencies: Dependencies, trace: WebhookTrace
) -> _Sender:
    """The sender; Unproven, the same for everybody, when it is not one or cannot prove it.

    Until it returns nothing is parsed, and nothing is told: neither who is a tenant nor what it has set up.
    """
    tenant_id, source = str(path.get("tenant")), str(path.get("source"))
    # A name that no tenant can have is not even looked up.
    tenant = dependencies.tenants.find(tenant_id) if TENANT_ID.fullmatch(tenant_id) else None
    if tenant is None:
        raise Unproven("unknown_tenant")
    trace.tenant_id, trace.detailed = tenant_id, tenant.detailed_metrics
    config = tenant.webhooks.get(source)
    if config is None:
        raise Unproven("unknown_source")
    trace.source = source
    secrets = dependencies.secrets.find(tenant_id, f"webhooks/{source}")
    verify(config.proof, secrets, Sent(request.headers, _signed(request), request.arrival_ms / 1000))
    return _Sender(tenant, source, config)


def _signed(request: HttpRequest) -> bytes:
    try:
        return request.decoded()
    except InvalidBody:
        # A body that cannot be read is the sender's to hear of, once we know that it is the sender.
        return b""


def _checked(request: HttpRequest, sender: _Sender, dependencies: Dependencies) -> Request:
    raw = request.body(sender.config.body_limit_bytes)
    request.require_json(suffixed=True)
    body = canonical_json.parse(raw)
    tenant_id = sender.tenant.tenant_id
    event_id = webhook_identity.event_id(sender.config.identity, request.headers, body)
    return Request(
        tenant_id=tenant_id,
        identity=operation.identity_of(tenant_id, sender.source, event_id, body),
        body=operation.WEBHOOKS.schema(body),
        body_text=canonical_json.as_sent(raw),
        correlation_id=request.correlation_id,
        arrival_ms=request.arrival_ms,
        clock_ms=dependencies.clock_ms(),
        owner=dependencies.randomness(),
        generation=dependencies.randomness(),
        success_status=http.success_status(operation.WEBHOOKS),
        described={"source": sender.source, "eventId": event_id},
        answer=operation.answer(duplicate=False),
        detailed_metrics=sender.tenant.detailed_metrics,
    )


def _answer(outcome: Outcome) -> StoredResponse:
    if isinstance(outcome, Accepted):
        return outcome.response
    # Not a replay of the first answer: a sender is told that it has sent this before (DESIGN section 2).
    duplicate = compact(operation.answer(duplicate=True))
    return replace(outcome.response, status=http.OK, body=duplicate)
