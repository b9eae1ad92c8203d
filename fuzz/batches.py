"""Batches as Lambda brings them: of the stream, of the queues and of the bus.

Shapes are AWS's (events of another shape are not possible: Lambda makes them); what is in images, bodies and
attributes is anybody's. Whatever it is: only ids of the batch are named, every record is dealt with or comes
again, and nothing is published of a record that was not written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fuzz.choices import split
from fuzz.quiet import logger, quietly
from fuzz.stored import attributes_in, changed, images
from fuzz.target import Target, require
from handlers import dispatch, notify
from handlers.adapters import parking
from handlers.domain import bus_event, cloud_event
from handlers.domain.errors import OncewardError, Unavailable
from handlers.domain.outbox import delivery_of, is_due
from handlers.settings import DispatchSettings, NotifySettings
from tests import builders
from tests.stream_events import queue_batch, sequence_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fuzz.choices import Choices
    from handlers.domain.outbox import Announced, Delivery
    from handlers.domain.work_message import WorkMessage

NOW = builders.NOW_MS
_LOGS = {name: logger(name) for name in ("dispatch", "notify")}
_NAMES = ("INSERT", "MODIFY", "REMOVE", "", "REINDEX")


@dataclass
class Outside:
    """Everything that `dispatch` writes to. `down`: the tables that do not answer."""

    down: frozenset[str] = frozenset()
    written: dict[tuple[str, str], Delivery] = field(default_factory=dict)
    published: list[tuple[str, str]] = field(default_factory=list)
    sent: list[WorkMessage] = field(default_factory=list)
    parked: list[Mapping[str, Any]] = field(default_factory=list)

    def _ask(self, what: str) -> None:
        if what in self.down:
            raise Unavailable(what, "ThrottlingException")

    def write(self, delivery: Delivery) -> str | None:
        """See `dispatch.Records`; what DynamoDB would not take is refused."""
        self._ask("records")
        json.dumps([delivery.document, delivery.record_id, delivery.event_id], ensure_ascii=False).encode()
        self.written.setdefault((delivery.tenant_id, delivery.record_id), delivery)
        return None

    def send(self, message: WorkMessage) -> None:
        """See `dispatch.WorkQueues`."""
        self._ask("work")
        require((message.tenant_id, message.record_id) in self.written, "work without a record")
        message.body().encode()
        self.sent.append(message)

    def publish(self, announced: Announced, event: str, /) -> None:
        """See `dispatch.Topics`."""
        self._ask("topics")
        told = json.loads(event)
        require((announced.tenant_id, told["subject"]) in self.written, "published before it was written")
        self.published.append((announced.tenant_id, told["id"]))

    def park(self, image: Mapping[str, Any], error: str, parked_at_ms: int) -> None:
        """See `dispatch.Parking`."""
        self._ask("parking")
        parking.to_body(image, error, parked_at_ms)
        self.parked.append(image)

    def back_off(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """See `dispatch.Parking`."""
        require(all(1 <= parking.pause_seconds(_receives(one)) <= 7200 for one in messages), "a wild pause")


def check_dispatch(
    event: dict[str, Any], outside: Outside | None = None, remaining_ms: int = 30_000
) -> Outside:
    """One batch, of the stream or of the retry queue."""
    outside = outside or Outside()
    settings = DispatchSettings("dev", "records", "arn:", "url", {}, stream_honours_partial_failures=True)
    dependencies = dispatch.Dependencies(
        settings, outside, outside, outside, outside, _LOGS["dispatch"], lambda: NOW
    )
    with quietly():
        answer = dispatch.dispatch(event, dependencies, lambda: remaining_ms)
    failed = _failed(answer, event)
    for record in event["Records"]:
        if "dynamodb" in record:
            _check_of_stream(record["dynamodb"], failed, outside)
    return outside


def _check_of_stream(change: dict[str, Any], failed: set[str], outside: Outside) -> None:
    """A change that asks for something was delivered, was parked, or comes again."""
    image = change.get("NewImage")
    if image is None or not is_due(image, change.get("OldImage")) or change["SequenceNumber"] in failed:
        return
    event_id = image["outboxId"].get("S")
    delivered = any(delivery.event_id == event_id for delivery in outside.written.values())
    require(delivered or any(one is image or one == image for one in outside.parked), "a record was lost")


def _failed(answer: Any, event: Mapping[str, Any]) -> set[str]:  # noqa: ANN401 - what Lambda is given
    require(set(answer) == {"batchItemFailures"}, "an answer that Lambda cannot read")
    named = [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
    ids = {one.get("messageId") or one["dynamodb"]["SequenceNumber"] for one in event["Records"]}
    require(set(named) <= ids, "an id that is not of this batch: Lambda takes the whole batch for failed")
    return set(named)


def stream_event(choices: Choices, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """A batch of the stream: each kind of change, with images whole, changed or missing."""
    records = []
    for position in range((1, 2, 4, 0)[choices.number(4)]):
        change: dict[str, Any] = {
            "SequenceNumber": sequence_number(position),
            "StreamViewType": choices.pick(("NEW_AND_OLD_IMAGES", "KEYS_ONLY")),
        }
        for name in ("NewImage", "OldImage"):
            if not choices.flag() and (name == "NewImage" or choices.flag()):
                change[name] = changed(choices, given or choices.pick(images()))
        if choices.flag():
            change["Keys"] = {"pk": {"S": choices.text()}}
        record = {
            "eventID": str(position),
            "eventName": choices.pick(_NAMES),
            "eventSource": "aws:dynamodb",
            "dynamodb": change,
        }
        if choices.flag():
            record["userIdentity"] = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
        records.append(record)
    return {"Records": records}


def queue_event(choices: Choices, bodies: Sequence[str]) -> dict[str, Any]:
    """A batch of a queue with these bodies."""
    event = queue_batch(bodies)
    for record in event["Records"]:
        record["attributes"]["ApproximateReceiveCount"] = choices.pick(("1", "2", "20", "1000000"))
        record["messageAttributes"] = choices.pick(
            ({}, {"correlationId": {"stringValue": choices.text(), "dataType": "String"}}, {"x": {}}, None)
        )
    return event


def check_notify(event: dict[str, Any]) -> None:
    """One event of the bus: published on its own tenant's topic, or an error that we foresaw."""
    told: list[tuple[str, str]] = []

    class _Topics:
        def publish(self, announced: Announced, text: str, /) -> None:
            json.dumps([announced.event_id, announced.type], ensure_ascii=False)
            told.append((announced.tenant_id, text))

    dependencies = notify.Dependencies(NotifySettings("dev", "arn:"), _Topics(), _LOGS["notify"])
    with quietly():
        try:
            notify.notify(event, dependencies)
        except OncewardError:
            require(not told, "published and failed")
            return
    ((tenant, text),) = told
    require(json.loads(text)["source"].endswith(f"/{tenant}"), "published on another tenant's topic")


def _receives(record: Mapping[str, Any]) -> int:
    return int(record["attributes"]["ApproximateReceiveCount"])


def _check_stream(data: bytes) -> None:
    choices, payload = split(data)
    down = choices.pick((frozenset[str](), {"records"}, {"topics"}, {"work"}, {"parking", "topics"}))
    remaining = choices.pick((30_000, 0))
    check_dispatch(stream_event(choices, attributes_in(payload)), Outside(frozenset(down)), remaining)


def _check_retries(data: bytes) -> None:
    choices, payload = split(data)
    image = changed(choices, choices.pick(images()))
    bodies = [
        parking.to_body(image, "fuzz", 1, republish=choices.flag()),
        payload.decode("utf-8", "replace"),
    ]
    check_dispatch(queue_event(choices, choices.pick((bodies, bodies[:1], bodies[1:], []))))


def _check_bus(data: bytes) -> None:
    choices, payload = split(data)
    try:
        detail = json.loads(payload)
    except (ValueError, RecursionError):
        detail = payload.decode("utf-8", "replace")
    event = {"detail-type": "order.completed", "source": "onceward", "detail": detail}
    if choices.flag():
        event["detail"] = choices.pick(
            (None, [], {}, {"tenantId": "acme"}, {"tenantId": "acme", "event": payload.hex()})
        )
    check_notify(event)


def _details() -> list[bytes]:
    delivery = delivery_of(builders.receipt(operation="orders"))
    return [b"\n" + bus_event.detail_of(delivery, cloud_event.encode(delivery, "dev")).encode(), b"\x03\n"]


STREAM = Target(
    "stream",
    _check_stream,
    lambda: [b"\n" + json.dumps(one).encode() for one in [*images(), {"outboxId": {"S": "E"}}]] + [b"\n"],
)
RETRIES = Target(
    "retries",
    _check_retries,
    lambda: [b"\n", b"\x00\x00\x01\n" + parking.to_body(images()[0], "e", 1).encode()],
)
BUS = Target("bus", _check_bus, _details)
