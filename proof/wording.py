"""How calls, answers and moments are called in a told schedule, for people who do not know the code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.operation import Booking
from handlers.domain.outbound import Answer
from handlers.domain.ports import Gone, Held, TakenOver
from handlers.domain.receipt import Receipt, Status
from handlers.domain.work_item import AlreadyDone, NoSuchWork, TwinAtWork
from proof.programs import Raised, name_in
from proof.provider import HONOURS_MS, Charge
from proof.receipt_changes import LIVES_MS
from proof.receipts import Table
from proof.records import Kept
from proof.work_queue import Queue
from proof.work_rules import due_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from proof.programs import Call

_CALLS: Final = {
    ("receipts", "put"): "claims the key",
    ("receipts", "read"): "reads whether the key is free",
    ("receipts", "write"): "writes its claim, without a condition",
    ("receipts", "checkpoint"): "saves a checkpoint",
    ("receipts", "complete"): "stores its answer",
    ("receipts", "release"): "gives its claim back",
    ("provider", "charge"): "asks the provider for a charge",
    ("provider", "look up"): "asks the provider for the charge that was made",
    ("receipts", "take change"): "is given the first record of the stream",
    ("receipts", "acknowledge"): "is done with its record of the stream",
    ("receipts", "scan"): "looks through the receipts",
    ("records", "write"): "writes the record",
    ("records", "look"): "looks which records are there",
    ("work queue", "send"): "queues the work",
    ("retry queue", "park"): "parks the receipt on the retry queue",
    ("retry queue", "take"): "is given what the retry queue has",
    ("retry queue", "acknowledge"): "is done with its message of the retry queue",
    ("slots", "take"): "books the slot",
    ("records", "claim"): "claims the work",
    ("records", "finish"): "marks the work as done",
    ("records", "fail"): "gives the work back",
    ("records", "overdue"): "looks whether work is overdue",
    ("records", "page"): "looks for work that is pending",
    ("records", "mark_requeued"): "marks the work as queued again",
    ("records", "give_up"): "gives the work up",
    ("work queue", "receive"): "is given a message of the queue",
    ("work queue", "acknowledge"): "is done with its message",
    ("work queue", "hide"): "puts its message off",
    ("work queue", "redrive"): "brings the dead letters back",
    ("destination", "upsert"): "sends the record to its destination",
    ("bus", "announce"): "announces it on the bus",
    ("idempotency table", "put_item"): "claims the key (PutItem)",
    ("idempotency table", "update_item"): "stores its answer (UpdateItem)",
    ("idempotency table", "delete_item"): "deletes the record (DeleteItem)",
}
_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))
# Calls that are answered with nothing where there is nothing; others, where it is done.
_ASKING: Final = ("read", "take change", "take", "receive", "overdue")
# Of kinds of answers that say it all.
_ANSWERS: Final[Mapping[type, str]] = {
    AlreadyDone: "it is done already",
    Booking: "refused, it is taken",
    Gone: "there is nothing any more",
    NoSuchWork: "there is no record of it",
    TwinAtWork: "refused, another is at it",
}
# Of a program's answer that is no HTTP answer, so much is told.
_LONGEST: Final = 60


def called(call: Call) -> str:
    """What whoever makes this call does (``claims the key``)."""
    first = call.arguments[0] if call.arguments else None
    if call.name == "take_over":
        return f"takes over the claim of {name_in(call.arguments[0].owner)}"
    if call.name == "put" and isinstance(first, Receipt) and first.status is Status.COMPLETED:
        return "claims the key, and stores its answer with it"
    if call.name == "publish":
        return f"publishes the event on the topic of {call.arguments[0].topic}"
    return _CALLS.get((call.port, call.name), f"calls {call.port}: {call.name.replace('_', ' ')}")


def heard(call: Call, value: Any, now: int) -> str:  # noqa: ANN401 - any port's answer
    """What a call is answered, in a few words. `now`: ms since the epoch."""
    if isinstance(value, Raised):
        return f"{value.kind.__name__}"
    if isinstance(value, Held):
        return f"refused, {_there(value.existing, now)}"
    if isinstance(value, TakenOver) and value.receipt.checkpoint is not None:
        return "done, and there is a checkpoint"
    if isinstance(value, Answer):
        return _provided(json.loads(value.body)) if call.port == "provider" else f"{value.status}"
    if type(value) in _ANSWERS:
        return _ANSWERS[type(value)]
    if value is False:
        return "refused"
    return "there is nothing" if value is None and call.name in _ASKING and call.port != "slots" else "done"


def _there(item: Receipt, now: int) -> str:
    owner = name_in(item.owner)
    if item.status is Status.COMPLETED:
        return f"the answer of {owner} is there"
    left = item.lease_until - now
    return f"{owner} has it, and its lease {f'runs for {span(left)} more' if left > 0 else 'is over'}"


def _provided(document: dict[str, Any]) -> str:
    found = [str(each.get("id")) for each in document.get("charges", [document])]
    return ", ".join(found) or "there is none"


def answered(name: str, answer: Any) -> str:  # noqa: ANN401 - any program's
    """What a finished program has told its caller."""
    if not isinstance(answer, dict) or "statusCode" not in answer:
        return f"{name} ends: {str(answer)[:_LONGEST]}"
    document = json.loads(answer["body"] or "{}")
    what = document.get("title") or document.get("chargeId") or document.get("id")
    if "Retry-After" in answer["headers"]:
        what = f"{what}; again in {answer['headers']['Retry-After']} s"
    replay = ", a replay" if answer["headers"].get("Idempotent-Replayed") else ""
    return f"the client of {name} is told {answer['statusCode']}{replay}{f' ({what})' if what else ''}"


def meanings(state: Any, at: int) -> Iterator[str]:  # noqa: ANN401 - any port's state
    """What begins, of this state, at the moment `at`."""
    if hasattr(state, "meanings"):  # a port's state may say it itself
        yield from state.meanings(at)
    elif isinstance(state, Table):
        yield from _of_receipts(state, at)
    elif isinstance(state, Kept):
        yield from _of_work(state, at)
    elif isinstance(state, Queue):
        yield from (
            f"the queue brings message {one.number + 1}" for one in state.messages if one.visible_at == at
        )
    elif isinstance(state, tuple):
        yield from _of_charges([one for one in state if isinstance(one, Charge)], at)


def _of_receipts(table: Table, at: int) -> Iterator[str]:
    for _, item in table.items:
        owner = name_in(item.owner)
        moments = {
            item.purge_at * 1000: f"TTL may delete the item of {owner}",
            item.expires_at: f"the window of {owner} is over",
            item.expires_at - 1: f"the window of {owner} is all but over",
        }
        yield from (said for moment, said in moments.items() if moment == at)
        if item.status is Status.IN_PROGRESS:
            yield from (f"the lease of {owner} {said}" for said in _ending(item.lease_until, at))
            if item.operation == "payments" and at == item.created_at + HONOURS_MS - LIVES_MS - 1:
                yield f"whoever takes over from now on may outlive what the provider knows of {owner}"


def _of_work(kept: Kept, at: int) -> Iterator[str]:
    for _, stored in kept.working:
        lease, owner = stored.item.lease_until, name_in(stored.item.owner or "")
        yield from (f"the lease of {owner} {said}" for said in _ending(lease, at))
        yield from ("the work is overdue" for due in due_at(stored) if due == at)


def _of_charges(charges: Iterable[Charge], at: int) -> Iterator[str]:
    for charge in charges:
        if charge.made_at + HONOURS_MS == at:
            yield f"the provider forgets the key of {charge.id}"
        elif charge.made_at + HONOURS_MS - 1 == at:
            yield f"the provider is about to forget the key of {charge.id}"


def _ending(lease_until: int, at: int) -> list[str]:
    said = {lease_until - 1: "is all but over", lease_until: "ends", lease_until + 1: "is over"}
    return [said[at]] if at in said else []


def count(number: int, what: str) -> str:
    """``1 fault``, ``2 faults``."""
    return f"{number} {what}{'s' if number != 1 else ''}"


def span(ms: int) -> str:
    """A time of `ms` milliseconds, such as ``1 d 2 h`` or ``33.001 s``."""
    parts = []
    for unit, name in _UNITS:
        count, ms = divmod(ms, unit)
        parts += [f"{count} {name}"] * bool(count)
    if ms or not parts:
        parts.append(f"{ms / 1000:.3f}".rstrip("0").rstrip(".") + " s")
    return " ".join(parts)
