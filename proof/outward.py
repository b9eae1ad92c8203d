"""The promises from the receipt outward: what was accepted comes out, and nothing else does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from proof.answers import HttpRules
from proof.dispatching import STAGE, drains
from proof.programs import name_in
from proof.stream import LOST, Streamed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from handlers.domain.outbox import Delivery
    from proof.programs import Call
    from proof.queues import Published
    from proof.receipts import Window
    from proof.records import Kept, Place
    from proof.scenario import Seen

_DRAINS: Final = frozenset(one.name for one in drains())
_REDIRECT: Final = 300
# By operation: its event's type, and under which name its documents have the body that was sent.
_EVENTS: Final = {"leads": "lead.created", "payments": "payment.created", "webhooks": "webhook.received"}
_NAMES: Final = {"leads": "lead", "orders": "order", "payments": "payment", "webhooks": "event"}
# What comes out: on the tenant's topic, and on the queue of work.
_PUBLISHED: Final = frozenset({"leads", "payments", "webhooks"})
_WORKED: Final = frozenset({"orders", "webhooks"})


@dataclass(frozen=True)
class OutwardRules(HttpRules):
    """Rules for attempts over HTTP, and for those who deliver what was accepted."""

    judged_before: frozenset[str] = frozenset({"charge", "write", "publish", "send"})

    def before(self, seen: Seen, actor: str, call: Call) -> Iterable[str]:
        """See `Rules`. What goes out is of a stored answer, and its record is there by then."""
        told = call.arguments[0]
        if call.name == "write":
            window = _accepted(seen).get((told.tenant_id, told.record_id))
            if window is None:
                yield f"{actor} writes a record of what nobody accepted"
            elif not self._is_of(window, told.record_id, told.document):
                yield f"{actor} writes a record of another document than was accepted"
        elif call.name == "publish":
            yield from self._publishes(seen, actor, told)
        elif call.name == "send":
            record = _recorded(seen).get((told.tenant_id, told.record_id))
            if record is None or record.event_id != told.event_id:
                yield f"{actor} queues work whose record is not there"
        else:
            yield from super().before(seen, actor, call)

    def finished(self, seen: Seen, actor: str, started_ms: int, answer: Any) -> Iterator[str]:  # noqa: ANN401
        """See `Rules`. After each of the operator's steps, all is there that this step has to bring."""
        if actor in self.requests:
            yield from super().finished(seen, actor, started_ms, answer)
        elif actor in _DRAINS and answer == "failed":
            yield f"{actor} failed although nothing was wrong"
        elif actor == "D1":
            lost = _stream_lost(seen)
            yield from self._missing(seen, unrecorded=lost, unheard=lost)
        elif actor == "D2":
            # A record that is there says nothing of its event: a plain replay leaves it alone.
            yield from self._missing(seen, unrecorded=_beyond_replay(seen), unheard=_stream_lost(seen))
        elif actor == "D3":
            beyond = _beyond_replay(seen)
            yield from self._missing(seen, unrecorded=beyond, unheard=beyond)

    def _publishes(self, seen: Seen, actor: str, event: Published) -> Iterator[str]:
        window = _accepted(seen).get((event.topic, event.record_id))
        record = _recorded(seen).get((event.topic, event.record_id))
        if window is None:
            yield f"{actor} publishes on the topic of {event.topic} what nobody there accepted"
        elif record is None or record.event_id != event.event_id:
            yield f"{actor} publishes an event whose record is not there"
        elif event.source != f"/onceward/{STAGE}/{event.topic}":
            yield f"{actor} publishes an event of {event.source} on the topic of {event.topic}"
        elif event.type != _EVENTS.get(self._operation(window)):
            yield f"{actor} publishes what was accepted as an event of another kind ({event.type})"
        elif not self._is_of(window, event.record_id, event.data):
            yield f"{actor} publishes another document than was accepted"

    def _operation(self, window: Window) -> str:
        return self.requests[name_in(window.owners[0])].operation

    def _is_of(self, window: Window, record_id: str, document: str) -> bool:
        """Whether a document is what the window's opener sent, under the id that its caller was told."""
        told, opener = json.loads(document), self.requests[name_in(window.owners[0])]
        return bool(told["id"] == record_id and told[_NAMES[opener.operation]] == opener.body)

    def _missing(
        self, seen: Seen, *, unrecorded: frozenset[Place], unheard: frozenset[Place]
    ) -> Iterator[str]:
        """What was accepted, and has no record, or no event, or no work; less what may lack them."""
        published = {(one.topic, one.record_id) for one in seen.ports["topics"]}
        queued = {(one.tenant_id, one.record_id) for one in seen.ports["work queue"]}
        recorded = _recorded(seen)
        if len({record.event_id for record in recorded.values()}) < len(recorded):
            yield "two records have one event"
        for place, window in _accepted(seen).items():
            who = name_in(window.answered_by or "")
            operation = self._operation(window)
            if place not in recorded.keys() | unrecorded:
                yield f"what {who} was answered has no record"
            elif operation in _PUBLISHED and place not in published | unheard:
                yield f"what {who} was answered was never published"
            elif operation in _WORKED and place not in queued | unheard:
                yield f"what {who} was answered was never queued as work"


def _accepted(seen: Seen) -> dict[Place, Window]:
    """Each stored success, by the tenant and the record's id that its caller was told."""
    return {
        (window.place[0], _told_id(window.answer.headers["Location"])): window
        for window in seen.ports["receipts"].windows
        if window.answer is not None and window.answer.status < _REDIRECT
    }


@cache
def _told_id(location: str) -> str:
    return location.rpartition("/")[2]


def _recorded(seen: Seen) -> dict[Place, Delivery]:
    kept: Kept = seen.ports["records"]
    return kept.deliveries()


def _stream_lost(seen: Seen) -> frozenset[Place]:
    """What the stream lost."""
    table: Streamed = seen.ports["receipts"]
    return frozenset(
        (change.place[0], change.new.outbox.record_id)
        for change in table.changes
        if change.status == LOST and change.new is not None and change.new.outbox is not None
    )


def _beyond_replay(seen: Seen) -> frozenset[Place]:
    """What the stream lost and no receipt holds any more, since the key opened another window or TTL came.

    Nothing of it is left to be replayed. On AWS a stream loses a record after a day in which no dispatcher
    could deliver it, and it goes to the failure bucket whole (`dispatch replay --from-failures`).
    """
    table: Streamed = seen.ports["receipts"]
    standing = {(item.tenant_id, item.outbox.record_id) for _, item in table.items if item.outbox is not None}
    return _stream_lost(seen) - standing
