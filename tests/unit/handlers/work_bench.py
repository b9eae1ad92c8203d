"""`deliver` and `fulfil` over records in memory, with a destination and a clock of the test's choice."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from handlers import deliver, fulfil
from handlers.adapters import work_batch
from handlers.adapters.delivery import Destinations
from handlers.adapters.work_batch import Worker
from handlers.domain.destination import addressee_of_order, addressee_of_webhook
from handlers.domain.outbound import Answer
from handlers.domain.outbox import Delivery
from handlers.domain.tenant_config import from_item
from handlers.domain.work import ORDERS, WEBHOOKS
from handlers.domain.work_message import WorkMessage
from tests.builders import NOW_MS
from tests.fakes.work import InMemoryWork
from tests.stream_events import queue_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.tenant_config import TenantConfig
    from handlers.domain.work_item import WorkItem

STAGE = "dev"
MAX_RECEIVES = 3
REMAINING_MS = 100_000
_LOGGERS = itertools.count()


def order(number: int, tenant: str = "acme", **members: Any) -> Delivery:
    record_id = f"01R{number:023d}"
    document = json.dumps({"id": record_id, "order": {"number": number, **members}})
    return Delivery(
        tenant,
        "orders",
        f"01E{number:023d}",
        "order.completed",
        record_id,
        document,
        f"correlation-{number}",
        NOW_MS - 500,
    )


def webhook(number: int, tenant: str = "acme", source: str = "crm", event_id: str | None = None) -> Delivery:
    record_id = f"01R{number:023d}"
    told = {"id": record_id, "source": source, "eventId": event_id or f"evt/{number}", "event": {"n": number}}
    return Delivery(
        tenant,
        "webhooks",
        f"01E{number:023d}",
        "webhook.received",
        record_id,
        json.dumps(told),
        f"correlation-{number}",
        NOW_MS - 500,
    )


def tenant_config(
    tenant: str = "acme",
    *,
    status: str = "active",
    metrics: str = "standard",
    destination: Mapping[str, str] | None = None,
    orders: Mapping[str, str] | None = None,
) -> TenantConfig:
    source = {
        "proof": {"scheme": "bearer", "header": None, "toleranceSeconds": 300},
        "identity": {"path": "id", "header": None, "template": "{id}"},
        "windowSeconds": 60,
        "bodyLimitBytes": 1024,
        "destination": destination,
    }
    return from_item(
        {
            "tenantId": {"S": tenant},
            "status": {"S": status},
            "metrics": {"S": metrics},
            "webhooks": {"S": json.dumps({"crm": source})},
            "orders": {"S": json.dumps({"destination": orders})},
        }
    )


@dataclass
class WorkBench:
    """Stores, destination, queue and bus of one test; each test replaces what it is about."""

    configs: dict[str, TenantConfig] = field(default_factory=dict)
    secrets: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    answer: Callable[[str, str, bytes], Answer] = lambda _method, _url, _body: Answer(200, {}, b"")
    config_error: Exception | None = None
    malformed: dict[str, Exception] = field(default_factory=dict)
    unreadable: dict[str, Exception] = field(default_factory=dict)
    bus_error: BaseException | None = None
    pause_error: Exception | None = None
    store: InMemoryWork = field(default_factory=InMemoryWork)
    calls: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    events: list[tuple[Delivery, dict[str, Any]]] = field(default_factory=list)
    pauses: dict[str, int] = field(default_factory=dict)
    now: int = NOW_MS
    reads: int = 0
    log: io.StringIO = field(default_factory=io.StringIO)
    owners: Any = field(default_factory=itertools.count)

    # What Destinations and the workers call.
    def find(self, tenant_id: str, name: str = "") -> Any:
        if self.config_error is not None:
            raise self.config_error
        if tenant_id in (errors := self.unreadable if name else self.malformed):
            raise errors[tenant_id]
        return self.secrets.get((tenant_id, name), ()) if name else self.configs.get(tenant_id)

    def call(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, timeout_seconds: float
    ) -> Answer:
        assert 0 < timeout_seconds < 30
        self.calls.append((method, url, dict(headers), body))
        return self.answer(method, url, body)

    def put(self, delivery: Delivery, detail: str) -> None:
        if self.bus_error is not None:
            raise self.bus_error
        self.events.append((delivery, json.loads(detail)))

    def hide(self, pauses: Mapping[str, int]) -> None:
        if self.pause_error is not None:
            raise self.pause_error
        self.pauses |= pauses

    # What tests call.
    def deliver(self, event: Mapping[str, Any], **more: Any) -> Any:
        """Run `deliver` on a batch."""
        return self._run(
            event, WEBHOOKS, deliver.Deliver(self._to(addressee_of_webhook)), deliver.WORDS, **more
        )

    def fulfil(self, event: Mapping[str, Any], **more: Any) -> Any:
        """Run `fulfil` on a batch."""
        act = fulfil.Fulfil(STAGE, self._to(addressee_of_order), self)
        return self._run(event, ORDERS, act, fulfil.WORDS, **more)

    def item(self, delivery: Delivery) -> WorkItem:
        return self.store.records[delivery.tenant_id, delivery.record_id].item

    def status(self, delivery: Delivery) -> str:
        return self.item(delivery).status

    def is_pending(self, delivery: Delivery) -> bool:
        return self.store.records[delivery.tenant_id, delivery.record_id].since is not None

    def log_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.getvalue().splitlines()]

    def _to(self, addressee: Any) -> Destinations:
        return Destinations(self, self, self, addressee)

    def _run(
        self,
        event: Mapping[str, Any],
        work: Any,
        act: Any,
        words: Any,
        *,
        remaining_ms: Callable[[], int] = lambda: REMAINING_MS,
        store: Any = None,
    ) -> Any:
        worker = Worker(
            work=work,
            stage=STAGE,
            max_receives=MAX_RECEIVES,
            store=store or self.store,
            act=act,
            pauses=self,
            words=words,
            # Powertools keeps one handler a service name for the whole process: a name of our own.
            logger=Logger(service=f"worker-{next(_LOGGERS)}", level="INFO", stream=self.log),
            clock_ms=lambda: self.now,
            owner=lambda: f"owner-{next(self.owners)}",
            detailed=lambda tenant: tenant in self.configs and self.configs[tenant].detailed_metrics,
        )
        return work_batch.run(event, worker, remaining_ms)


def messages(*deliveries: Delivery, receives: int = 1) -> dict[str, Any]:
    """A batch as Lambda brings it; message ids are `message-0`, handles `handle-0`, ..."""
    batch = queue_batch([WorkMessage.of(one).body() for one in deliveries])
    for position, (record, delivery) in enumerate(zip(batch["Records"], deliveries, strict=True)):
        record["receiptHandle"] = f"handle-{position}"
        record["attributes"]["ApproximateReceiveCount"] = str(receives)
        record["messageAttributes"] = {
            "correlationId": {"stringValue": delivery.correlation_id, "dataType": "String"}
        }
    return batch
