"""`dispatch` of what has work: record, then queue, then topic; and that doing it again resets nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from handlers.adapters import parking
from handlers.adapters.receipt_item import to_item
from handlers.domain.errors import Refused, Unavailable
from handlers.domain.outbox import delivery_of
from handlers.domain.work import pending_shard, pending_shards, with_status
from infra.naming import Names
from ops.log_search import Line
from ops.onward import places
from tests import builders
from tests.stream_events import failed_ids, inserted, queue_batch, sequence_number, stream_batch
from tests.unit.handlers.dispatch_bench import (
    LAG_MS,
    Bench,
    Failing,
    Killed,
    accepted,
    event_id,
    event_ids,
)
from tests.unit.handlers.work_bench import WorkBench, messages, tenant_config

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt


def accepted_work(number: int, operation: str, tenant: str = "acme") -> Receipt:
    base = accepted(number, tenant, operation=operation)
    assert base.outbox is not None
    kind = {"orders": "order.completed", "webhooks": "webhook.received"}[operation]
    return replace(base, outbox=replace(base.outbox, type=kind))


@pytest.mark.parametrize(("operation", "waiting"), [("orders", "ACCEPTED"), ("webhooks", "RECEIVED")])
def test_a_record_with_work_says_so_and_is_found_by_who_looks_for_pending_work(
    bench: Bench, operation: str, waiting: str
) -> None:
    receipt = accepted_work(1, operation)

    bench.dispatch(stream_batch(inserted(1, receipt)))

    assert receipt.outbox is not None
    [record] = bench.records()
    told = {name: record[name] for name in ("status", "updatedAt", "pendingShard", "pendingSince")}
    assert told == {
        "status": {"S": waiting},
        # When it was written: the message that goes out now is not lost, however long ago it was accepted.
        "updatedAt": {"N": str(builders.NOW_MS + LAG_MS)},
        "pendingShard": {"S": pending_shard(operation, receipt.outbox.record_id)},
        "pendingSince": {"N": str(builders.NOW_MS)},
    }


@pytest.mark.parametrize("operation", ["orders", "webhooks"])
def test_the_queue_is_told_where_the_work_is_and_nothing_of_what_is_in_it(
    bench: Bench, operation: str
) -> None:
    receipt = accepted_work(1, operation)

    bench.dispatch(stream_batch(inserted(1, receipt)))

    assert receipt.outbox is not None
    [message] = bench.queued(operation)
    assert json.loads(message["Body"]) == {
        "tenantId": "acme",
        "operation": operation,
        "recordId": receipt.outbox.record_id,
        "eventId": receipt.outbox.event_id,
    }
    attributes = {name: value["StringValue"] for name, value in message["MessageAttributes"].items()}
    assert attributes == {"tenantId": "acme", "operation": operation, "correlationId": "correlation-1"}
    # A fair queue: a tenant's backlog is that tenant's.
    assert message["Attributes"]["MessageGroupId"] == "acme"


def test_an_order_is_announced_by_its_worker_and_a_webhook_at_once(bench: Bench) -> None:
    order, webhook = accepted_work(1, "orders"), accepted_work(2, "webhooks")

    bench.dispatch(stream_batch(inserted(1, order), inserted(2, webhook)))

    assert event_ids(bench.published()) == [event_id(webhook)]
    assert len(bench.queued("orders")) == len(bench.queued("webhooks")) == 1


def test_a_lead_has_no_work_and_no_place_in_the_index(bench: Bench) -> None:
    bench.dispatch(stream_batch(inserted(1, accepted(1))))

    [record] = bench.records()
    assert not {"status", "pendingShard", "pendingSince"} & set(record)
    assert bench.queued("orders") + bench.queued("webhooks") == []


def test_a_stream_record_that_comes_again_queues_again_and_leaves_the_status_alone(bench: Bench) -> None:
    webhook = accepted_work(1, "webhooks")
    bench.dispatch(stream_batch(inserted(1, webhook)))
    [record] = bench.records()
    done = {name: value for name, value in record.items() if not name.startswith("pending")}
    bench.put_record(done | {"status": {"S": "DELIVERED"}})

    bench.dispatch(stream_batch(inserted(1, webhook)))

    assert bench.records() == [done | {"status": {"S": "DELIVERED"}}]
    assert len(bench.queued("webhooks")) == 2
    assert event_ids(bench.published()) == [event_id(webhook)] * 2


@pytest.mark.parametrize(
    "error", [Unavailable("work queue", "Timeout"), Refused("work queue", "NoSuchQueue")]
)
def test_a_queue_of_work_that_takes_nothing_is_the_platforms_fault_and_parks_nothing(
    bench: Bench, error: Exception
) -> None:
    down = Failing(error)
    batch = stream_batch(*(inserted(n, accepted_work(n, "webhooks")) for n in (1, 2)))

    response = bench.dispatch(batch, work_queues=down)

    assert failed_ids(response) == [sequence_number(1), sequence_number(2)]
    assert (down.calls, bench.parked()) == (1, [])
    bench.dispatch(batch)
    assert len(bench.queued("webhooks")) == 2


def test_a_webhook_is_no_work_before_its_topic_has_it(bench: Bench) -> None:
    # Its worker would mark it delivered, and without a destination the topic is all that hears of it.
    broken, fine = accepted_work(1, "webhooks"), accepted_work(2, "webhooks", "bluebird")
    bench.remove_topic("acme")

    assert bench.dispatch(stream_batch(inserted(1, broken), inserted(2, fine))) == {"batchItemFailures": []}

    [message] = bench.queued("webhooks")
    assert json.loads(message["Body"])["tenantId"] == "bluebird"
    [parked] = bench.parked()
    assert parked["image"]["outboxId"] == {"S": event_id(broken)}
    assert len(bench.records()) == 2


def test_killed_between_event_and_queue_the_redelivery_does_both_again(bench: Bench) -> None:
    batch = stream_batch(inserted(1, accepted_work(1, "webhooks")))
    with pytest.raises(Killed):
        bench.dispatch(batch, work_queues=Failing(Killed()))

    bench.dispatch(batch)

    assert len(bench.queued("webhooks")) == 1
    assert len(bench.published()) == 2


def republished(receipt: Receipt) -> dict[str, Any]:
    """A message as `dispatch replay --republish` parks it."""
    return queue_batch([parking.to_body(to_item(receipt), "dispatch replay", 1, republish=True)])


def test_the_event_of_a_completed_order_is_published_once_more_as_its_worker_made_it(bench: Bench) -> None:
    order = accepted_work(1, "orders")
    bench.dispatch(stream_batch(inserted(1, order)))
    bench.queued("orders")
    [record] = bench.records()
    bench.put_record(record | {"status": {"S": "COMPLETED"}})

    assert bench.dispatch(republished(order)) == {"batchItemFailures": []}

    [event] = bench.published()
    delivery = delivery_of(order)
    worker = WorkBench(configs={"acme": tenant_config()})
    worker.store.write(delivery)
    worker.fulfil(messages(delivery))
    [(_, detail)] = worker.events
    assert json.loads(event) == detail["event"]
    assert json.loads(event)["data"]["status"] == "COMPLETED"
    # No work: it is done. And nobody looks for it on a queue that it was not sent to.
    assert bench.queued("orders") == []
    assert bench.log_lines()[-1]["outcome"] == "republished"
    assert places(Line(1, "dispatch", bench.log_lines()[-1]), Names("dev")) == {"topic": "onceward-dev-acme"}
    assert bench.records() == [record | {"status": {"S": "COMPLETED"}}]


@pytest.mark.parametrize("status", ["ACCEPTED", "PROCESSING", "FAILED"])
def test_an_order_that_is_not_completed_has_no_event_to_republish_and_is_worked_on(
    bench: Bench, status: str
) -> None:
    order = accepted_work(1, "orders")
    bench.dispatch(stream_batch(inserted(1, order)))
    [record] = bench.records()
    bench.put_record(record | {"status": {"S": status}})
    bench.dispatch(republished(order))
    assert (bench.published(), len(bench.queued("orders"))) == ([], 2)


def test_a_completed_order_that_only_comes_again_is_not_announced_by_dispatch(bench: Bench) -> None:
    order = accepted_work(1, "orders")
    bench.dispatch(stream_batch(inserted(1, order)))
    [record] = bench.records()
    bench.put_record(record | {"status": {"S": "COMPLETED"}})
    bench.dispatch(stream_batch(inserted(1, order)))
    assert (bench.published(), len(bench.queued("orders"))) == ([], 2)


@pytest.mark.parametrize(("operation", "days"), [("webhooks", 30), ("orders", None), ("leads", None)])
def test_only_webhooks_are_forgotten_and_not_before_their_receipts(
    bench: Bench, operation: str, days: int | None
) -> None:
    base = accepted(1, operation=operation) if operation == "leads" else accepted_work(1, operation)
    bench.dispatch(stream_batch(inserted(1, base)))
    second = builders.NOW_MS // 1000
    [record] = bench.records()
    assert record.get("purgeAt") == (None if days is None else {"N": str(second + days * 86_400)})

    longer = replace(base, purge_at=second + 40 * 86_400)
    assert delivery_of(longer).purge_at == (None if days is None else second + 40 * 86_400)


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        ('{"id":"x","n":1e400}', {"id": "x", "status": "RECEIVED"}),
        ('{"id":"x"}\n', {"id": "x", "status": "RECEIVED"}),
    ],
)
def test_the_status_is_shown_last_and_changes_no_other_letter(document: str, shown: dict[str, Any]) -> None:
    text = with_status(document, "RECEIVED")
    assert text == document.strip()[:-1] + ',"status":"RECEIVED"}'
    assert {name: value for name, value in json.loads(text).items() if name != "n"} == shown


def test_every_shard_is_looked_at_and_all_are_used() -> None:
    used = {pending_shard("orders", f"01R{number}") for number in range(200)}
    assert used == set(pending_shards("orders"))
