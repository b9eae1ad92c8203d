"""Counts what each operation left behind: receipts, records, events, and its effect outside. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from loadtest.operations import APPOINTMENTS, BY_NAME, ORDERS, PAYMENTS, WEBHOOKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loadtest.answers import Answers
    from loadtest.outside import Outside
    from loadtest.stored import AuditEvent, StoredReceipt, StoredRecord

# What an operation does besides its record and its event: under which name it is counted, and what people
# call it. A lead does nothing more.
_EFFECTS: Final = {
    PAYMENTS.name: ("charges", "charges"),
    ORDERS.name: ("entities", "at the CRM"),
    WEBHOOKS.name: ("entities", "at the CRM"),
    APPOINTMENTS.name: ("slots", "slots"),
}


def by_operation(
    answers: Answers,
    receipts: Mapping[str, StoredReceipt],
    records: Iterable[StoredRecord],
    events: Iterable[AuditEvent] | None,
    seen_outside: Outside | None,
) -> dict[str, dict[str, int]]:
    """Of each operation: receipts, records, receipts of refusals that stand, and what there is of the rest.

    `events` (different ids), `charges`, `entities` and `slots` (0 here) are there only where they were looked
    at and where the operation has them. What belongs to no operation is a violation, and in no figure.
    """
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for heard in answers.by_pk.values():
        counted[heard.operation.name].update(receipts=0, records=0, refusedForGood=0)
    for receipt in receipts.values():
        counted[receipt.operation].update(receipts=1, refusedForGood=int(receipt.refuses))
    for record in records:
        counted[record.operation].update(records=1)
    for name, found in counted.items():
        if events is not None and name in BY_NAME:
            kind = BY_NAME[name].event_type
            found["events"] = len({one.event_id for one in events if one.event_type == kind})
        if name == APPOINTMENTS.name:
            found["slots"] = 0
    if seen_outside is not None:
        _count_outside(counted, receipts, seen_outside)
    return {name: dict(found) for name, found in counted.items()}


def add(total: dict[str, dict[str, int]], part: Mapping[str, Mapping[str, int]]) -> None:
    """Add the figures of a part of the keys to those of the parts before it."""
    for name, counted in part.items():
        figures = total.setdefault(name, {})
        for what, number in counted.items():
            figures[what] = figures.get(what, 0) + number


def add_slots(total: Mapping[str, dict[str, int]], slots: int) -> None:
    """Fill in how many slots are booked, which is known when all keys were seen."""
    if APPOINTMENTS.name in total:
        total[APPOINTMENTS.name]["slots"] = slots


def _count_outside(
    counted: Mapping[str, Counter[str]], receipts: Mapping[str, StoredReceipt], seen: Outside
) -> None:
    owners = {one.record_id: one.operation for one in receipts.values() if one.record_id}
    entities = Counter(owners.get(entity.document_id, "") for entity in seen.entities)
    for name in (ORDERS.name, WEBHOOKS.name):
        if name in counted:
            counted[name]["entities"] = entities[name]
    if PAYMENTS.name in counted:
        counted[PAYMENTS.name]["charges"] = len(seen.charges)


def outside(operation: str, counted: Mapping[str, int]) -> str:
    """The effect of an operation outside its record, for people: ``35 charges``; ``-`` where it has none."""
    if operation not in _EFFECTS:
        return "-"
    name, word = _EFFECTS[operation]
    return f"{counted[name]:,} {word}" if name in counted else "not checked"


def events(counted: Mapping[str, int]) -> str:
    """How many events an operation has, for people."""
    return f"{counted['events']:,}" if "events" in counted else "not checked"
