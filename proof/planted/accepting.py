"""Planted in accept mode: the one write that is claim, result and outbox."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from handlers.domain import keys
from handlers.operations import webhooks
from proof.accepting import accepted, lead, outward
from proof.planted.claims import own_write_not_recognised
from proof.planted.plant import Planted
from proof.queues import Published
from proof.receipts import AskingStore
from proof.webhooks import CHANGED_EVENT, webhook

if TYPE_CHECKING:
    from handlers.domain.accept import Outcome
    from handlers.domain.identity import Identity
    from handlers.domain.json_text import JsonValue
    from handlers.domain.ports import PutOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt, StoredResponse

_asked_to_put = AskingStore.put
_derived = keys.derived
_identity_of = webhooks.identity_of


def _publish_before_write(store: AskingStore, receipt: Receipt, claim: Claim) -> PutOutcome:
    assert receipt.outbox is not None
    source = f"/onceward/local/{receipt.tenant_id}"
    event = Published(receipt.tenant_id, source, receipt.outbox.event_id, receipt.outbox.record_id)
    store._ask("topics", "publish", event)
    return _asked_to_put(store, receipt, claim)


def _kept_for_ten_seconds(created_at_ms: int, expires_at_ms: int) -> int:
    del expires_at_ms
    return created_at_ms // 1000 + 10


def _of_any_source(operation: str, source: str, identity: str) -> str:
    del source
    return _derived(operation, "", identity)


def _with_its_body(tenant_id: str, source: str, event_id: str, body: JsonValue) -> Identity:
    identity = _identity_of(tenant_id, source, event_id, body)
    return replace(identity, fingerprint=str(identity.body_hash))


def _as_the_first(outcome: Outcome) -> StoredResponse:
    return outcome.response


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
    Planted(
        "event-id-without-its-source",
        "The key of a webhook is the event's id alone, whichever source it came from.",
        "A was answered 202 with an answer that is stored nowhere",
        2,
        0,
        partial(accepted, [webhook()], 0),
        partial(patch, "handlers.domain.keys.derived", _of_any_source),
    ),
    Planted(
        "redelivery-judged-by-its-body",
        "A webhook that is sent again with another body is taken for another request.",
        "B was told of another request with its key (422), and there was none",
        4,
        0,
        partial(accepted, [webhook(), webhook(CHANGED_EVENT)], 0),
        partial(patch, "handlers.webhooks.operation.identity_of", _with_its_body),
    ),
    Planted(
        "duplicate-told-as-new",
        "A sender is not told that it has sent an event before.",
        "B was told that its request is new, and A had answered it",
        4,
        0,
        partial(accepted, [webhook(), webhook()], 0),
        partial(patch, "handlers.webhooks._answer", _as_the_first),
    ),
)
