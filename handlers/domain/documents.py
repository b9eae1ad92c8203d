"""What is made of an accepted request: its ids, its document, its first answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from handlers.domain import bus_event, ids, work
from handlers.domain.errors import BodyTooLarge
from handlers.domain.json_text import compact
from handlers.domain.message_text import MAX_EVENT_BYTES, for_a_message
from handlers.domain.receipt import Outbox, StoredResponse
from handlers.domain.timestamps import rfc3339

if TYPE_CHECKING:
    from handlers.domain.operation import AcceptOperation, Document, ExecuteOperation
    from handlers.domain.request import Request

# The envelope around the document: nine CloudEvents attributes, each bounded by our own rules; about 600
# bytes in practice.
_EVENT_ENVELOPE_BYTES = 2 * 1024

# DynamoDB takes items of 400 KB, attribute names included (service quotas; it counts 1,024 bytes a KB, and we
# do not rely on it). Document and body are all but about 4,500 bytes of an item: key, ids, Location and the
# hashes of 32 members with names of 64 bytes.
_MAX_TEXT_BYTES = 400_000 - 8_000


@dataclass(frozen=True)
class Ids:
    """The ids of one window. Every attempt of it makes the same ones."""

    record_id: str
    event_id: str
    created_at: int

    @classmethod
    def of(cls, tenant_id: str, key: str, generation: str, created_at: int) -> Ids:
        """Those that follow from a claim; `created_at` in ms since the epoch."""
        identity = (tenant_id, key, generation)
        return cls(ids.record_id(*identity, created_at), ids.event_id(*identity, created_at), created_at)

    def members(self) -> Document:
        """What every document and first answer begins with."""
        return {"id": self.record_id, "createdAt": rfc3339(self.created_at)}


def document(
    operation: AcceptOperation | ExecuteOperation, request: Request, made: Ids, derived: Document
) -> str:
    """The business object as JSON text: ids, the body as it was sent, and what the platform adds."""
    # The body goes in as text: parsed and written again, 1.50 would be 1.5, and a 20th decimal gone.
    parts = [
        compact({**made.members(), **request.described})[1:-1],
        f"{compact(operation.record_name)}:{request.body_text}",
    ]
    parts += [compact(derived)[1:-1]] if derived else []
    return "{" + ",".join(parts) + "}"


def fits_an_event(text: str, reserve_bytes: int = 0) -> bool:
    """Whether a document, and `reserve_bytes` more, can be published."""
    # Measured as the event will carry it: a document that grows past the limit on its way out would be an
    # accepted request that nobody hears of.
    room = MAX_EVENT_BYTES - _EVENT_ENVELOPE_BYTES - reserve_bytes
    return len(for_a_message(text).encode()) <= room


def check_event_size(text: str, reserve_bytes: int = 0) -> None:
    """Raise BodyTooLarge unless the document fits an event: before anything is written."""
    if not fits_an_event(text, reserve_bytes):
        raise BodyTooLarge(f"the event made of this body would be over {MAX_EVENT_BYTES} bytes")


def check_announcement(operation: str, text: str) -> None:
    """Raise BodyTooLarge unless whoever is to hear of the document can: before anything is written."""
    check_event_size(text)
    follows = work.BY_OPERATION.get(operation)
    if follows is None or not follows.announces:
        return
    told = work.with_status(text, follows.done)
    # On the bus a document can be text in text, where it grows once more: accepted, it would fail for ever.
    if not fits_an_event(told) or not bus_event.fits(told):
        raise BodyTooLarge("the event made of this body would be more than the event bus takes")


def first_answer(
    operation: AcceptOperation | ExecuteOperation, request: Request, made: Ids, derived: Document
) -> StoredResponse:
    """The answer to the request that took effect."""
    answer = request.answer
    if answer is None:
        known: Document = {**request.body, **_waiting(operation.name), **derived}
        answer = {**made.members(), **{name: known[name] for name in operation.answered}}
    location = operation.path.format(id=made.record_id)
    headers = {"Content-Type": "application/json", "Location": location}
    return StoredResponse(request.success_status, headers, compact(answer))


def after_the_effect(
    operation: ExecuteOperation, request: Request, made: Ids, derived: Document
) -> tuple[str, StoredResponse]:
    """Document and first answer of an effect that ran. Never raises: it would have to run a second time.

    What it added is left out where no event can carry it: too large, or nothing that JSON has.
    """
    try:
        text, response = (
            document(operation, request, made, derived),
            first_answer(operation, request, made, derived),
        )
        # Half of a surrogate pair is found here at the latest.
        (response.body or "").encode()
        if fits_an_event(text):
            return text, response
    except (KeyError, TypeError, ValueError, RecursionError):
        nothing = first_answer(operation, replace(request, answer={}), made, {})
        response = replace(nothing, body=None)
    return document(operation, request, made, {}), response


def outbox(operation: AcceptOperation | ExecuteOperation, made: Ids, text: str) -> Outbox:
    """What must follow from the acceptance."""
    return Outbox(made.event_id, operation.event_type, made.record_id, text)


def storable(response: StoredResponse, text: str) -> StoredResponse:
    """Keep what fits the item beside the document: status and headers always, the body unless too large.

    The effect is never run again for that: a replay says that the body was not kept.
    """
    body_bytes = len((response.body or "").encode())
    if len(text.encode()) + body_bytes > _MAX_TEXT_BYTES:
        return replace(response, body=None)
    return response


def _waiting(operation: str) -> Document:
    """The status of a record whose work has not begun: it is the item's, so no part of the document."""
    queued = work.BY_OPERATION.get(operation)
    return {"status": queued.waiting} if queued else {}
