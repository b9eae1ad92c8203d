"""What the fuzzer found: texts, stored or queued, that Python's own readers choke on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from handlers.adapters.parking import parked_in
from handlers.adapters.receipt_item import from_item, to_item
from handlers.domain import registry_entry
from handlers.domain.bus_event import notice_in
from handlers.domain.caller import Caller, MalformedContext
from handlers.domain.cloud_event import encode
from handlers.domain.errors import CorruptItem
from handlers.domain.json_members import Members
from handlers.domain.json_text import parsed
from handlers.domain.outbox import delivery_of
from handlers.domain.work_message import UNKNOWN, message_in
from tests.builders import authorizer_context, receipt
from tests.unit.handlers.authorizer_desk import key_item
from tests.unit.handlers.work_bench import WorkBench, messages, webhook

# CPython gives up at 1,000 frames, with an error that is no ValueError.
DEEP = "[" * 100_000
# CPython reads no integer of more than 4,300 digits.
LONG = "9" * 5_000
DELIVERY = delivery_of(receipt())


@pytest.mark.parametrize("text", [DEEP, '{"a":NaN}', "-Infinity", LONG, "", "[1"])
def test_what_is_no_json_is_a_value_error_and_nothing_else(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed(text)


def test_json_beyond_what_a_double_holds_is_still_json() -> None:
    assert parsed('{"a":[1e400,1.50,"\\ud800"]}') == {"a": [float("inf"), 1.5, "\ud800"]}


def test_a_stored_text_nested_too_deeply_is_a_corrupt_item_in_every_reader() -> None:
    for read in (
        lambda: parked_in(DEEP),
        lambda: message_in({"body": DEEP}),
        lambda: notice_in({"detail": {"tenantId": "acme", "event": DEEP}}),
        lambda: Members.of_text(DEEP, "place"),
        lambda: encode(replace(DELIVERY, document=f'{{"a":{DEEP}'), "dev"),
        lambda: registry_entry.from_item(key_item(operationSettings={"S": DEEP})),
    ):
        with pytest.raises(CorruptItem):
            read()


def test_a_message_nested_too_deeply_is_skipped_like_any_other_and_fails_alone() -> None:
    bench = WorkBench()
    batch = messages(webhook(1), webhook(2))
    batch["Records"][1]["body"] = DEEP
    # No time is left after the first one: the second is skipped, which reads it too.
    answer = bench.deliver(batch, remaining_ms=lambda: 0)
    assert answer["batchItemFailures"][-1] == {"itemIdentifier": "message-1"}


@pytest.mark.parametrize("attribute", ["text", {"stringValue": 7}, {"stringValue": {}}, [1], None, {}])
def test_a_correlation_id_of_another_shape_is_unknown(attribute: object) -> None:
    message: dict[str, Any] = messages(webhook(1))["Records"][0]
    message["messageAttributes"] = {"correlationId": attribute}
    assert message_in(message).correlation_id == UNKNOWN


def test_a_number_longer_than_dynamodb_holds_is_corrupt() -> None:
    item: dict[str, Any] = to_item(receipt())
    with pytest.raises(CorruptItem, match="createdAt"):
        from_item(item | {"createdAt": {"N": LONG}})
    with pytest.raises(CorruptItem, match="bodyLimitBytes"):
        registry_entry.from_item(key_item(bodyLimitBytes={"N": LONG}))
    with pytest.raises(MalformedContext, match="bodyLimitBytes"):
        Caller.from_context(authorizer_context(bodyLimitBytes=LONG))
    with pytest.raises(MalformedContext, match="not JSON"):
        Caller.from_context(authorizer_context(operationSettings=DEEP))


@pytest.mark.parametrize(
    "changes",
    [
        {"created_at": 10**37},
        {"created_at": -(10**37)},
        {"document": '{"a":NaN}'},
        {"document": '{"a":"\ud800"}'},
    ],
)
def test_what_no_event_can_hold_is_a_corrupt_item(changes: dict[str, Any]) -> None:
    with pytest.raises(CorruptItem):
        encode(replace(DELIVERY, **changes), "dev")


def test_a_notice_that_is_no_object_is_a_corrupt_item() -> None:
    events: list[Any] = ["[]", json.dumps({"source": "/acme"}), "1", [], None]
    for event in events:
        with pytest.raises(CorruptItem):
            notice_in({"detail": {"tenantId": "acme", "event": event}})
