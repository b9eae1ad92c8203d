"""What the platform reads back: items and messages, from another release or a broken hand."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fuzz.choices import split
from fuzz.target import Broken, Target, require
from handlers.adapters import parking, records, work_store
from handlers.adapters.pending_index import DynamoDbPending
from handlers.adapters.receipt_item import from_item, to_item
from handlers.domain import bus_event, cloud_event, registry_entry, tenant_config, work_message
from handlers.domain.errors import CorruptItem
from handlers.domain.outbox import delivery_of, is_due
from handlers.domain.work_message import WorkMessage
from tests import builders

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fuzz.choices import Choices
    from handlers.domain.receipt import Receipt

Found = TypeVar("Found")

_STAGE = "dev"
_EARLIER = Path(__file__).resolve().parent.parent / "tests/unit/handlers/receipts"
# Every type of an attribute value (DynamoDB API reference, AttributeValue), as the stream spells it.
ATTRIBUTES: tuple[dict[str, Any], ...] = (
    {"S": ""},
    {"S": "text"},
    {"N": "0"},
    {"N": "-1"},
    {"N": "1.5"},
    {"N": "1E+125"},
    {"N": "9" * 38},
    {"BOOL": True},
    {"NULL": True},
    {"B": "AA=="},
    {"SS": ["a"]},
    {"NS": ["1"]},
    {"BS": ["AA=="]},
    {"L": []},
    {"L": [{"S": "a"}]},
    {"M": {}},
    {"M": {"status": {"S": "x"}}},
    {},
)


def changed(choices: Choices, item: Mapping[str, Any]) -> dict[str, Any]:
    """The item with some attributes (also of its maps) gone, or of another type, or new."""
    image = copy.deepcopy(dict(item))
    for _ in range(choices.number(4)):
        name = choices.pick(sorted(image) or ["pk"])
        inner = image.get(name)
        members = inner.get("M") if isinstance(inner, dict) else None
        place = image
        if isinstance(members, dict) and members and choices.flag():
            place, name = members, choices.pick(sorted(members))
        kind = choices.number(3)
        if kind == 0:
            place.pop(name, None)
        else:
            place[name if kind == 1 else "of a later release"] = copy.deepcopy(choices.pick(ATTRIBUTES))
    return image


def receipt_of(image: Mapping[str, Any]) -> Receipt | None:
    """The receipt of an image; None where it is corrupt, and nothing else may happen."""
    found = _value_in(from_item, image)
    if found is not None:
        require(_value_in(from_item, to_item(found)) == found, "a receipt is not read as it was written")
    return found


def check_image(image: Mapping[str, Any]) -> None:
    """Whatever an image holds: a receipt and its event, or CorruptItem."""
    is_due(image, {})
    found = receipt_of(image)
    for reads in (
        records.from_item,
        work_store.work_item_of,
        registry_entry.from_item,
        tenant_config.from_item,
    ):
        _value_in(reads, image)
    _pending(image)
    if found is None:
        return
    try:
        event = cloud_event.encode(delivery_of(found), _STAGE)
    except CorruptItem:
        return
    require(json.loads(event)["data"] is not None and event.encode(), "an event of no JSON")
    bus_event.fits(event)
    body = WorkMessage.of(delivery_of(found)).body()
    _value_in(work_message.message_in, {"body": body})
    parked = parking.parked_in(parking.to_body(image, "fuzz", 1))
    require(parked.image == image and not parked.republish, "an image is not brought back as it was parked")


def check_body(body: str) -> None:
    """Any text on a queue, any detail on the bus: a message, or CorruptItem."""
    _value_in(parking.parked_in, body)
    _value_in(work_message.message_in, {"body": body})
    _value_in(bus_event.notice_in, {"detail": {"tenantId": "acme", "event": body}})
    try:
        detail = json.loads(body)
    except (ValueError, RecursionError):
        return
    _value_in(bus_event.notice_in, {"detail": detail})
    _value_in(bus_event.notice_in, {"detail": {"tenantId": "acme", "event": detail}})


def _value_in(reads: Callable[[Any], Found], given: object) -> Found | None:
    """What `reads` finds; None for CorruptItem, which is all that it may raise."""
    try:
        return reads(given)
    except CorruptItem:
        return None
    except Exception as error:
        raise Broken("neither a value nor CorruptItem") from error


class _Index:
    """A client of DynamoDB whose index holds one item."""

    def __init__(self, image: Mapping[str, Any]) -> None:
        self._image = image

    def query(self, **_asked: object) -> dict[str, Any]:
        """One page."""
        return {"Items": [self._image]}


def _pending(image: Mapping[str, Any]) -> None:
    page = DynamoDbPending("records", _Index(image)).page("orders#0", None)  # type: ignore[arg-type] # one method
    require(len(page.items) + page.unreadable == 1, "an item of the index was lost")


def attributes_in(payload: bytes) -> dict[str, Any] | None:
    """The item that a payload spells; None when it spells none.

    What DynamoDB can hold under a name is always one of its types, so an attribute value is a dict.
    """
    try:
        given = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict):
        return None
    return {name: value for name, value in given.items() if isinstance(value, dict)} or None


def _check_image(data: bytes) -> None:
    choices, payload = split(data)
    item = images()[choices.number(len(images()))]
    check_image(changed(choices, attributes_in(payload) or item))


def _check_body(data: bytes) -> None:
    check_body(data.decode("utf-8", "surrogateescape"))


@cache
def images() -> list[dict[str, Any]]:
    """Items as this release writes them, and as earlier ones did."""
    delivery = delivery_of(builders.receipt())
    earlier = [
        json.loads(path.read_text(encoding="utf-8"))["item"] for path in sorted(_EARLIER.glob("*.json"))
    ]
    return [
        *earlier,
        dict(to_item(builders.receipt())),
        dict(to_item(builders.in_progress(fields={"a": "b"}, body_hash="c", pinned="d", checkpoint="e"))),
        dict(records.to_item(delivery, builders.NOW_MS)),
        dict(to_item(builders.receipt(operation="orders"))),
    ]


def _bodies() -> list[bytes]:
    delivery = delivery_of(builders.receipt())
    event = cloud_event.encode(delivery, _STAGE)
    parked = parking.to_body(images()[0], "why", 1, republish=True)
    return [
        each.encode()
        for each in (WorkMessage.of(delivery).body(), event, bus_event.detail_of(delivery, event), parked, "")
    ]


IMAGE = Target(
    "images",
    _check_image,
    lambda: [bytes([n]) + b"\n" for n in range(5)] + [b"\n" + json.dumps(one).encode() for one in images()],
)
BODY = Target("messages", _check_body, _bodies)
