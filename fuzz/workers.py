"""`deliver` and `fulfil` over queues of any messages: only ids of the batch come again, nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzz.batches import queue_event
from fuzz.choices import split
from fuzz.quiet import logger, quietly
from fuzz.target import Target, require
from handlers import deliver, fulfil
from handlers.adapters import work_batch
from handlers.adapters.delivery import Destinations
from handlers.adapters.work_batch import Worker
from handlers.domain import tenant_config
from handlers.domain.destination import addressee_of_order, addressee_of_webhook
from handlers.domain.outbound import Answer, AnswerLost
from handlers.domain.outbox import Delivery
from handlers.domain.work import ORDERS, WEBHOOKS
from handlers.domain.work_message import WorkMessage
from tests.builders import NOW_MS
from tests.fakes.work import InMemoryWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fuzz.choices import Choices

_LOG = logger("worker")
_RECEIVES = 12
_DOCUMENTS = (
    '{"id":"01R","source":"crm","eventId":"evt_1","event":{}}',
    '{"id":"01R","source":"crm","eventId":"..","event":{}}',
    '{"id":"01R","source":"other","eventId":"é/😀 ?#","event":{}}',
    '{"id":"01R","order":{"n":1e400}}',
    '{"source":7}',
    "[]",
    "[" * 5000,
    "",
)


def _config() -> tenant_config.TenantConfig:
    source = (
        '{"crm":{"proof":{"scheme":"bearer","header":null,"toleranceSeconds":300},"identity":{"path":"id",'
        '"header":null,"template":null},"windowSeconds":60,"bodyLimitBytes":1024,"destination":'
        '{"method":"PUT","url":"https://crm.example/{id}"}}}'
    )
    orders = '{"destination":{"method":"POST","url":"https://erp.example/orders"}}'
    texts = {"tenantId": "acme", "status": "active", "webhooks": source, "orders": orders}
    return tenant_config.from_item({name: {"S": text} for name, text in texts.items()})


class Outside:
    """Registry, secrets, destination, bus and queue of the workers."""

    reads = 0

    def __init__(self, status: int | None) -> None:
        """`status`: what destinations answer; None when no answer comes."""
        self._status = status
        self.calls: list[str] = []
        self.events: list[str] = []
        self.pauses: dict[str, int] = {}

    def find(self, tenant_id: str, name: str = "") -> Any:  # noqa: ANN401 - both ports in one
        """See `TenantConfigs.find` and `SecretStore.find`."""
        if name:
            return ("secret",)
        return _config() if tenant_id == "acme" else None

    def call(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, timeout_seconds: float
    ) -> Answer:
        """See `Outbound.call`."""
        require(
            url.isascii() and url.startswith(("https://crm.example/", "https://erp.example/")), "elsewhere"
        )
        require(timeout_seconds > 0 and method in ("PUT", "POST"), "no call")
        require(not any(set(value) & set("\r\n\x00") for value in headers.values()), "a broken header")
        body.decode()
        self.calls.append(url)
        if self._status is None:
            raise AnswerLost("no answer")
        return Answer(self._status, {}, b"")

    def put(self, delivery: Delivery, detail: str) -> None:
        """See `EventBus.put`."""
        detail.encode()
        self.events.append(delivery.event_id)

    def hide(self, pauses: Mapping[str, int]) -> None:
        """See `work_batch.Pauses`."""
        require(all(0 <= pause <= 12 * 3600 for pause in pauses.values()), "a pause that SQS refuses")
        self.pauses |= pauses


def check_worker(event: dict[str, Any], operation: str, outside: Outside, store: InMemoryWork) -> None:
    """One batch to the worker of an operation."""
    webhooks = operation == "webhooks"
    to = Destinations(outside, outside, outside, addressee_of_webhook if webhooks else addressee_of_order)
    worker = Worker(
        work=WEBHOOKS if webhooks else ORDERS,
        stage="dev",
        max_receives=_RECEIVES,
        store=store,
        act=deliver.Deliver(to) if webhooks else fulfil.Fulfil("dev", to, outside),
        pauses=outside,
        words=deliver.WORDS if webhooks else fulfil.WORDS,
        logger=_LOG,
        clock_ms=lambda: NOW_MS,
        owner=lambda: "owner",
        detailed=lambda _tenant_id: False,
    )
    with quietly():
        answer = work_batch.run(event, worker, lambda: 100_000)
    failed = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
    require(failed <= {one["messageId"] for one in event["Records"]}, "an id that is not of this batch")
    for one in store.records.values():
        brought = [each for each in event["Records"] if f'"{one.item.delivery.record_id}"' in each["body"]]
        done = one.item.status in (WEBHOOKS.done, ORDERS.done)
        require(done or all(each["messageId"] in failed for each in brought), "undone work was acknowledged")


def _batch(choices: Choices, payload: bytes, operation: str) -> tuple[dict[str, Any], InMemoryWork]:
    store, bodies = InMemoryWork(), []
    for number in range(choices.number(3) + 1):
        document = choices.pick(_DOCUMENTS)
        one = Delivery("acme", operation, f"01E{number}", "t.t", f"01R{number}", document, "c", NOW_MS - 500)
        if not choices.flag():
            store.write(one)
        bodies.append(WorkMessage.of(one).body())
    if payload:
        bodies.append(payload.decode("utf-8", "replace"))
    event = queue_event(choices, bodies)
    for number, record in enumerate(event["Records"]):
        record["receiptHandle"] = f"handle-{number}"
    return event, store


def _check(data: bytes) -> None:
    choices, payload = split(data)
    operation = choices.pick(("webhooks", "orders"))
    outside = Outside(choices.pick((200, 204, 302, 404, 409, 429, 500, None)))
    event, store = _batch(choices, payload, operation)
    check_worker(event, operation, outside, store)


TARGET = Target(
    "workers",
    _check,
    lambda: [
        b"\n",
        b"\x01\n",
        b"\x00\x07\n",
        b'\n{"tenantId":"acme","operation":"webhooks","recordId":"r","eventId":"e"}',
    ],
)
