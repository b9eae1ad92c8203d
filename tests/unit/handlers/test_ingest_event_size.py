"""`ingest` takes no body whose event could not be published: a 201 is a promise that it will be."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handlers.domain import cloud_event
from handlers.domain.message_text import MAX_EVENT_BYTES
from handlers.domain.outbox import delivery_of
from tests.builders import authorizer_context, lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import post

# The largest body that any tier takes (tenants.models), and the longest of everything in the envelope.
BODY_LIMIT = 131_072
TENANT, STAGE, CORRELATION_ID = "t" * 32, "s" * 12, "c" * 128

# What grows between the body and the event: characters that messages need escaped, control characters, DEL,
# letters of two to four bytes, and numbers in every spelling.
PIECES = ["\ufffe", "\uffff", "\\u0000", "\\u001f", "\x7f", "\\/", "é", "\u2028", "\U0001f600", "\U0010ffff"]
NUMBERS = ["1e15", "1e308", "1.7976931348623157e308", "5e-324", "-0.0", "9" * 400, "1.50"]


def texts(count: int, pieces: list[str]) -> bytes:
    fill = "".join(pieces)
    text = fill * (count // len(pieces))
    return f'{{"name":"A","phone":"12345","x":"{text}"}}'.encode()


def numbers(count: int, spellings: list[str]) -> bytes:
    listed = ",".join(spellings[place % len(spellings)] for place in range(count))
    return f'{{"name":"A","phone":"12345","x":[{listed}]}}'.encode()


BODIES = st.one_of(
    st.builds(texts, st.integers(1, 60_000), st.lists(st.sampled_from(PIECES), min_size=1, max_size=4)),
    st.builds(numbers, st.integers(1, 60_000), st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3)),
)


def answered(store: InMemoryReceipts, raw: bytes) -> int:
    event = lead_event(
        raw=raw,
        headers={"idempotency-key": ["k"], "x-correlation-id": [CORRELATION_ID]},
        authorizer=authorizer_context(tenantId=TENANT),
    )
    status: int = post(store, event)["statusCode"]
    return status


@settings(max_examples=60, deadline=None)
@given(raw=BODIES.filter(lambda body: len(body) <= BODY_LIMIT))
@example(raw=texts(43_000, ["\ufffe"]))
@example(raw=texts(41_000, ["\uffff"]))
@example(raw=numbers(20_000, ["1e15"]))
def test_whatever_is_accepted_can_be_published(raw: bytes) -> None:
    store = InMemoryReceipts()
    if answered(store, raw) == 413:
        assert store.writes == 0
        return
    event = cloud_event.encode(delivery_of(store.items[TENANT, "k"]), STAGE)
    assert len(event.encode()) <= MAX_EVENT_BYTES
    assert json.loads(event)["data"]["lead"] == json.loads(raw)


@pytest.mark.parametrize(("count", "status"), [(40_000, 201), (41_000, 413), (43_000, 413)])
def test_what_grows_when_it_is_escaped_is_measured_as_escaped(count: int, status: int) -> None:
    # 3 bytes each on the way in, 6 each in the event.
    raw = texts(count, ["\ufffe"])
    assert len(raw) < BODY_LIMIT
    store = InMemoryReceipts()
    assert answered(store, raw) == status
    assert store.writes == (status == 201)
