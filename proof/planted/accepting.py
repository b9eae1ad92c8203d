"""Planted in accept mode: the one write that is claim, result and outbox."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from proof.accepting import accepted, lead, outward
from proof.planted.claims import own_write_not_recognised
from proof.planted.plant import Planted
from proof.queues import Published
from proof.receipts import AskingStore

if TYPE_CHECKING:
    from handlers.domain.ports import PutOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt

_asked_to_put = AskingStore.put


def _publish_before_write(store: AskingStore, receipt: Receipt, claim: Claim) -> PutOutcome:
    assert receipt.outbox is not None
    source = f"/onceward/local/{receipt.tenant_id}"
    event = Published(receipt.tenant_id, source, receipt.outbox.event_id, receipt.outbox.record_id)
    store._ask("topics", "publish", event)
    return _asked_to_put(store, receipt, claim)


def _kept_for_ten_seconds(created_at_ms: int, expires_at_ms: int) -> int:
    del expires_at_ms
    return created_at_ms // 1000 + 10


PLANTED: Final = (
    Planted(
        "publish-before-write",
        "The event is published before the receipt is written.",
        "A publishes on the topic of acme what nobody there accepted",
        2,
        0,
        partial(outward, [lead()], 0),
        partial(patch.object, AskingStore, "put", _publish_before_write),
    ),
    Planted(
        "own-acceptance-not-recognised",
        "An acceptance that the SDK sent twice takes its own first write for another's.",
        "A was told that its own answer is a replay",
        3,
        1,
        partial(accepted, [lead()] * 2, 1),
        partial(patch, "handlers.domain.accept.decide", own_write_not_recognised),
    ),
    Planted(
        "acceptance-without-outbox",
        "An acceptance is stored without what has to follow from it.",
        "A stored a success from which nothing follows: its record and its event are lost",
        2,
        0,
        partial(accepted, [lead()], 0),
        partial(patch, "handlers.domain.documents.outbox", lambda *_: None),
    ),
    Planted(
        "ttl-after-ten-seconds",
        "TTL may delete an acceptance ten seconds after it was stored.",
        "an outbox was swept away by TTL within 8 days",
        4,
        2,
        partial(accepted, [lead()], 2),
        partial(patch, "handlers.domain.accept.purge_at", _kept_for_ten_seconds),
    ),
)
