"""What the restart may have lost, told apart from what the platform lost by itself.

The local AWS forgets its streams when it is stopped, as the real one never does. What had not followed from
its receipt at that moment may be brought back by an operator afterwards; anything else that is missing was
lost by the platform, and no command may hide that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadtest.collect import AuditQueues, EventIds, Tables
from loadtest.target import choose

if TYPE_CHECKING:
    from loadtest.run import RunDirectory
    from loadtest.stored import StoredReceipt
    from loadtest.target import Target


@dataclass(frozen=True, slots=True)
class Open:
    """Receipts by key (`tenant#key`) of which not all had followed at one moment.

    Attributes:
        unrecorded: without a record. unheard: without their event, those without a record among them.
    """

    unrecorded: frozenset[str] = frozenset()
    unheard: frozenset[str] = frozenset()


class Losses:
    """Looks at a run's receipts, and at what follows from them."""

    def __init__(self, target: Target, directory: RunDirectory) -> None:
        settings = directory.settings()
        self._mark = settings.key_prefix
        self._tables = Tables(target)
        tenants = choose(target, settings.tenants)
        self._queues = AuditQueues(target, tenants, self._mark, directory.events)
        self._events = EventIds(directory.events)

    def unrecorded(self) -> frozenset[str]:
        """The receipts that ask for a record and have none, now. Raises ClientError or BotoCoreError."""
        return frozenset(one.pk for one in self._without_record(self._due()))

    def open(self) -> Open:
        """What has not followed by now. Raises ClientError or BotoCoreError."""
        due = self._due()
        unrecorded = frozenset(one.pk for one in self._without_record(due))
        self._queues.drain(0)
        self._events.look()
        return Open(unrecorded, unrecorded | {one.pk for one in due if one.event_id not in self._events})

    def _due(self) -> list[StoredReceipt]:
        return [one for one in self._tables.all_receipts(self._mark) if one.completed and one.record_id]

    def _without_record(self, due: list[StoredReceipt]) -> list[StoredReceipt]:
        there = self._tables.records(f"{one.tenant}#{one.record_id}" for one in due)
        return [one for one in due if f"{one.tenant}#{one.record_id}" not in there]
