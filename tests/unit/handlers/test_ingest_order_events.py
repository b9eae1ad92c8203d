"""`ingest` takes no order whose event the bus would not take: accepted, it would fail for ever."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handlers.domain import bus_event, cloud_event
from handlers.domain.outbox import delivery_of
from handlers.domain.work import ORDERS
from tests.builders import authorizer_context, lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import post

# The largest body that any tier takes (tenants.models), and the longest of everything in the envelope.
BODY_LIMIT = 131_072
TENANT, STAGE, CORRELATION_ID = "t" * 32, "s" * 12, "c" * 128
# What grows when a text is put into a text: escapes, and what messages need escaped.
PIECES = ['\\"', "\\\\", "\\u0000", "\ufffe", "\\ufffe", "\\/", "é", "\U0001f600"]
# A number that is not written as Python writes it makes the whole event text on the bus.
NUMBERS = ["1", "1.50", "1e400"]


def body(count: int, pieces: list[str], number: str) -> bytes:
    text = ("".join(pieces) * count)[:BODY_LIMIT]
    items = '[{"sku":"tea","quantity":1,"unitPrice":450}]'
    return f'{{"customer":"c","currency":"EUR","items":{items},"n":{number},"x":"{text}"}}'.encode()


def answered(store: InMemoryReceipts, raw: bytes) -> int:
    event: dict[str, Any] = lead_event(
        raw=raw,
        headers={"idempotency-key": ["k"], "x-correlation-id": [CORRELATION_ID]},
        authorizer=authorizer_context(tenantId=TENANT),
    )
    status: int = post(store, event | {"resource": "/v1/orders"})["statusCode"]
    return status


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(1, 60_000),
    pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=3),
    number=st.sampled_from(NUMBERS),
)
@example(count=65_400, pieces=['\\"'], number="1.50")
@example(count=43_000, pieces=["\ufffe"], number="1.50")
@example(count=36_000, pieces=["\ufffe"], number="1.50")
def test_whatever_order_is_accepted_can_be_put_on_the_bus(count: int, pieces: list[str], number: str) -> None:
    raw = body(count, pieces, number)
    if len(raw) > BODY_LIMIT:
        return
    store = InMemoryReceipts()
    if (status := answered(store, raw)) != 202:
        # 400: a piece was cut in two.
        assert (status in {400, 413}, store.writes) == (True, 0)
        return
    delivery = delivery_of(store.items[TENANT, "k"])
    detail = bus_event.detail_of(delivery, cloud_event.encode_done(delivery, ORDERS, STAGE))
    assert json.loads(detail)["tenantId"] == TENANT


@pytest.mark.parametrize(
    ("count", "number", "status"), [(65_400, "1", 202), (64_000, "1.50", 202), (65_400, "1.50", 413)]
)
def test_quotes_that_are_text_in_text_on_the_bus_are_measured_as_such(
    count: int, number: str, status: int
) -> None:
    # Two bytes each on the way in, and in an event that is an object; four in one that is text.
    raw = body(count, ['\\"'], number)
    assert len(raw) < BODY_LIMIT
    store = InMemoryReceipts()
    assert answered(store, raw) == status
    assert store.writes == (status == 202)
