"""Planted from the receipt outward: records, events, work, and what an operator replays."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from handlers.domain import cloud_event, ids, outbox
from ops import replay
from proof.accepting import lead, order, outward
from proof.planted.plant import Planted
from proof.queues import AskingTopics, AskingWorkQueues
from proof.records import AskingRecords

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from handlers.domain.outbox import Announced, Delivery
    from handlers.domain.receipt import Receipt
    from proof.scenario import Scenario

_HOUR: Final = 3_600
_publish, _encode, _event_id = AskingTopics.publish, cloud_event.encode, ids.event_id


def _forgotten(self: object, *_: object, **__: object) -> None:
    del self


def _never(*_: object) -> bool:
    return False


def _only_inserts(new: object, old: object) -> bool:
    return new is not None and old is None


def _another_record(receipt: Receipt) -> Delivery:
    delivery = outbox.delivery_of(receipt)
    return replace(delivery, record_id=delivery.event_id)


def _to_brook(topics: AskingTopics, announced: Announced, event: str) -> None:
    _publish(topics, _Brooks(announced), event)


class _Brooks:
    tenant_id = "brook"

    def __init__(self, announced: Announced) -> None:
        self.type, self.event_id = announced.type, announced.event_id


def _of_brook(delivery: Delivery, stage: str) -> str:
    return _encode(replace(delivery, tenant_id="brook"), stage)


def _no_event(delivery: Delivery, stage: str) -> str:
    raise ValueError(f"no event of {delivery.record_id} in {stage}")


def _without_generation(tenant_id: str, key: str, generation: str, created_at_ms: int) -> str:
    del generation, created_at_ms
    return _event_id(tenant_id, key, "", 0)


def _of_the_time(tenant_id: str, key: str, generation: str, created_at_ms: int) -> str:
    del tenant_id, key, generation
    return _event_id("", "", "", created_at_ms)


def _nothing_found(*_: object, **__: object) -> replay.Found:
    return replay.Found()


def _a_lead(faults: int) -> Scenario:
    return outward([lead()], faults)


def _one_after_the_other() -> Scenario:
    """A key that is used again when its window is over."""
    return outward([lead(window_seconds=_HOUR)], 1)


def _asking(kind: type, name: str, planted: Any = _forgotten) -> AbstractContextManager[object]:  # noqa: ANN401
    return patch.object(kind, name, planted)


PLANTED: Final = (
    Planted(
        "record-under-another-id",
        "The record is written under another id than its caller was told.",
        "K writes a record of what nobody accepted",
        4,
        0,
        partial(_a_lead, 0),
        partial(patch, "handlers.dispatch.delivery_of", _another_record),
    ),
    Planted(
        "event-without-its-record",
        "The event is published, and its record is not written.",
        "K publishes an event whose record is not there",
        4,
        0,
        partial(_a_lead, 0),
        partial(_asking, AskingRecords, "write"),
    ),
    Planted(
        "work-without-its-record",
        "The work of an order is queued, and its record is not written.",
        "K queues work whose record is not there",
        4,
        0,
        partial(outward, [order()], 0),
        partial(_asking, AskingRecords, "write"),
    ),
    Planted(
        "event-on-anothers-topic",
        "Every event is published on one tenant's topic.",
        "K publishes on the topic of brook what nobody there accepted",
        5,
        0,
        partial(_a_lead, 0),
        partial(_asking, AskingTopics, "publish", _to_brook),
    ),
    Planted(
        "event-of-another-tenant",
        "An event names one tenant for all.",
        "K publishes an event of /onceward/local/brook on the topic of acme",
        5,
        0,
        partial(_a_lead, 0),
        partial(patch, "handlers.domain.cloud_event.encode", _of_brook),
    ),
    Planted(
        "event-id-without-generation",
        "All windows of a key have one event id.",
        "what Y was answered has no record",
        4,
        1,
        _one_after_the_other,
        partial(patch, "handlers.domain.ids.event_id", _without_generation),
    ),
    Planted(
        "event-id-of-the-time",
        "All that arrives within a millisecond has one event id.",
        "two records have one event",
        12,
        0,
        partial(outward, [lead(), lead(tenant="brook")], 0),
        partial(patch, "handlers.domain.ids.event_id", _of_the_time),
    ),
    Planted(
        "event-that-cannot-be-made",
        "No event can be made of a document that was accepted.",
        "D1 failed although nothing was wrong",
        8,
        0,
        partial(_a_lead, 0),
        partial(patch, "handlers.domain.cloud_event.encode", _no_event),
    ),
    Planted(
        "nothing-is-due",
        "Dispatch leaves every change of a receipt alone.",
        "what A was answered has no record",
        4,
        0,
        partial(_a_lead, 0),
        partial(patch, "handlers.dispatch.is_due", _never),
    ),
    Planted(
        "only-inserts-are-due",
        "Dispatch acts on a new receipt only, not on one that replaces an expired one.",
        "what Y was answered has no record",
        4,
        1,
        _one_after_the_other,
        partial(patch, "handlers.dispatch.is_due", _only_inserts),
    ),
    Planted(
        "event-forgotten",
        "The record is written, and its event is not published.",
        "what A was answered was never published",
        5,
        0,
        partial(_a_lead, 0),
        partial(_asking, AskingTopics, "publish"),
    ),
    Planted(
        "work-forgotten",
        "The record of an order is written, and its work is not queued.",
        "what A was answered was never queued as work",
        5,
        0,
        partial(outward, [order()], 0),
        partial(_asking, AskingWorkQueues, "send"),
    ),
    Planted(
        "parking-forgotten",
        "What its tenant's topic does not take is not parked for later.",
        "what A was answered was never published",
        6,
        1,
        partial(_a_lead, 1),
        partial(patch, "handlers.dispatch._park", _forgotten),
    ),
    Planted(
        "replay-finds-nothing",
        "An operator's replay overlooks what the stream has lost.",
        "what A was answered has no record",
        3,
        1,
        partial(_a_lead, 1),
        partial(patch, "proof.dispatching.Replay.look", _nothing_found),
    ),
)
