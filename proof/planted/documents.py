"""Planted in what comes out: another document than was accepted, or by another way."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from handlers.domain import cloud_event, outbox
from proof.accepting import lead, order, outward
from proof.planted.plant import Planted
from proof.queues import AskingWorkQueues, Published

if TYPE_CHECKING:
    from handlers.domain.outbox import Delivery
    from handlers.domain.receipt import Receipt
    from handlers.domain.work_message import WorkMessage

_encode = cloud_event.encode


def _of_mallory(delivery: Delivery) -> Delivery:
    return replace(delivery, document=delivery.document.replace("Ada", "Mallory"))


def _delivery_of_mallory(receipt: Receipt) -> Delivery:
    return _of_mallory(outbox.delivery_of(receipt))


def _event_of_mallory(delivery: Delivery, stage: str) -> str:
    return _encode(_of_mallory(delivery), stage)


def _of_a_payment(delivery: Delivery, stage: str) -> str:
    return _encode(replace(delivery, type="payment.created"), stage)


def _published_instead(queues: AskingWorkQueues, message: WorkMessage) -> None:
    source = f"/onceward/local/{message.tenant_id}"
    event = Published(message.tenant_id, source, message.event_id, message.record_id, "order.completed")
    queues._ask("topics", "publish", event)


PLANTED: Final = (
    Planted(
        "another-document",
        "The record is written of another document than was accepted.",
        "K writes a record of another document than was accepted",
        4,
        0,
        partial(outward, [lead()], 0),
        partial(patch, "handlers.dispatch.delivery_of", _delivery_of_mallory),
    ),
    Planted(
        "event-of-another-document",
        "The event tells of another document than was accepted.",
        "K publishes another document than was accepted",
        5,
        0,
        partial(outward, [lead()], 0),
        partial(patch, "handlers.domain.cloud_event.encode", _event_of_mallory),
    ),
    Planted(
        "event-of-another-kind",
        "Every event says that it is of a payment.",
        "K publishes what was accepted as an event of another kind (payment.created)",
        5,
        0,
        partial(outward, [lead()], 0),
        partial(patch, "handlers.domain.cloud_event.encode", _of_a_payment),
    ),
    Planted(
        "work-of-an-order-not-queued",
        "An order is announced at once, and its work never queued.",
        "K publishes what was accepted as an event of another kind (order.completed)",
        5,
        0,
        partial(outward, [order()], 0),
        partial(patch.object, AskingWorkQueues, "send", _published_instead),
    ),
)
