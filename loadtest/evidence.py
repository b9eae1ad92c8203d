"""Everything that is known of a run, in files by key: it is judged a part of its keys after the other.

Parts are by the key without its tenant, so that a key that several tenants use is in one part.
"""

from __future__ import annotations

import heapq
import shutil
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from loadtest import history
from loadtest.answers import Answers, key_of
from loadtest.checker import Part
from loadtest.crossing import Crossing
from loadtest.expected import Expected, Planned
from loadtest.operations import BY_NAME, READ_SUFFIX
from loadtest.outside import Charge, Entity, Outside
from loadtest.packing import pack, unpack
from loadtest.partitions import Partitions
from loadtest.routing import Router
from loadtest.stored import AuditEvent, StoredReceipt, StoredRecord, member

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from loadtest.history import Attempt
    from loadtest.run import RunSettings
    from loadtest.stand_in import Telling

# Requests of a part: some 10 MB of memory while it is judged, and 200 files for 200,000 requests.
_REQUESTS_IN_A_PART: Final = 1000
# Records of each tenant and operation that all tenants ask for: the first ones of the run. One would do for a
# fault in the rule; two also show one in a cache.
_READ_PER_TENANT: Final = 2


class Evidence:
    """Takes in what is known of a run, one thing at a time, and gives it back by parts.

    Memory: of one part, and for each pair of tenant and operation the ids of two records.
    """

    def __init__(self, folder: Path, settings: RunSettings) -> None:
        """`folder`: an empty one."""
        self.count = max(1, settings.requests // _REQUESTS_IN_A_PART)
        self._settings = settings
        self._folder = folder
        self._attempts, self._planned, self._receipts, self._found = (
            self._shelf(name) for name in ("attempts", "planned", "receipts", "found")
        )
        self.crossing = Crossing(self._shelf("crossing"))
        (folder / "routes").mkdir(mode=0o700)
        self._router = Router(folder / "routes", self.count)
        self._first_ids: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._destinations: Any = None
        self._events_seen = False

    def _shelf(self, name: str) -> Partitions:
        (self._folder / name).mkdir(mode=0o700)
        return Partitions(self._folder / name, self.count)

    def plan(self, requests: Iterable[Planned]) -> None:
        """Take in what was to be sent."""
        for one in requests:
            self._planned.add(one.key, [one.tenant, one.key, one.body, one.declined, one.slot])

    def hear(self, attempts: Iterable[Attempt]) -> None:
        """Take in attempts: POSTs, or reads of records."""
        for one in attempts:
            if one.operation.endswith(READ_SUFFIX):
                self._router.send([f"record {one.body_hash}"], 0, ["Attempt", history.to_json(one)])
            else:
                self._attempts.add(key_of(one), [history.to_json(one)])
                self.crossing.attempt(one.attempt_id)

    def pks(self, part: int) -> list[str]:
        """The partition keys of a part's attempts; says to the router what they sent."""
        found: dict[str, None] = {}
        for tenant, key, body in self._sent(part):
            found[f"{tenant}#{key}"] = None
            self._router.claim(1, f"{tenant} {body}", part)
            self._router.claim(2, body, part)
        return list(found)

    def all_pks(self) -> Iterator[str]:
        """The partition keys of all attempts, each once."""
        for part in range(self.count):
            yield from dict.fromkeys(f"{tenant}#{key}" for tenant, key, _ in self._sent(part))

    def _sent(self, part: int) -> Iterator[tuple[str, str, str]]:
        """Tenant, key and body of a part's attempts, each once."""
        attempts = (history.from_json(row) for (row,) in self._attempts.rows(part))
        yield from dict.fromkeys((one.tenant, key_of(one), one.body_hash) for one in attempts)

    def keep_receipts(self, receipts: Iterable[StoredReceipt]) -> None:
        """Take in receipts; one that comes again counts once."""
        for one in receipts:
            part = self._receipts.part_of(one.key)
            self._receipts.add_to(part, pack(one))
            for what, identity in (("record", one.record_id), ("event", one.event_id)):
                if identity:
                    self._router.claim(0, f"{what} {identity}", part)
            if charge := member(one.body, "chargeId"):
                self._router.claim(0, f"charge {charge}", part)
            if one.record_id and one.operation in BY_NAME:
                first = self._first_ids[one.tenant, one.operation]
                first[:] = heapq.nsmallest(_READ_PER_TENANT, {*first, one.record_id})

    def ids_to_read(self) -> list[tuple[str, str]]:
        """Operation and id of the first records of each tenant and operation (ids sort by time)."""
        return [
            (operation, record_id) for (_, operation), ids in self._first_ids.items() for record_id in ids
        ]

    def keep_records(self, records: Iterable[StoredRecord]) -> None:
        """Take in records."""
        for one in records:
            tenant, _, record_id = one.pk.partition("#")
            self._router.send(_names(f"record {record_id}", tenant, one.body_hash), 0, pack(one))

    def keep_events(self, events: Iterable[AuditEvent]) -> None:
        """Take in events. Not to be called where no queue listens."""
        self._events_seen = True
        for one in events:
            names = _names(f"event {one.event_id}", one.queue_tenant, one.body_hash)
            self._router.send(names, 0, pack(one))

    def keep_outside(self, seen: Outside | Telling) -> None:
        """Take in what is outside the platform. Not to be called where nobody can tell."""
        self._destinations = seen.destinations
        for charge in seen.charges:
            # That of a payment is its key, too, which explains one that no answer names.
            otherwise = self._found.part_of(charge.reference)
            self._router.send([f"charge {charge.charge_id}"], otherwise, pack(charge))
        for entity in seen.entities:
            self._router.send([f"record {entity.document_id}"], 0, pack(entity))

    def parts(self) -> Iterator[Part]:
        """Every part, when all was taken in."""
        self._router.deliver(self._found)
        for number in range(self.count):
            yield self._part(number)

    def _part(self, number: int) -> Part:
        answers = Answers()
        found: defaultdict[str, list[Any]] = defaultdict(list)
        for row in self._found.rows(number):
            found[row[0]].append(history.from_json(row[1]) if row[0] == "Attempt" else unpack(row))
        for (line,) in self._attempts.rows(number):
            answers.hear(history.from_json(line))
        for read in found["Attempt"]:
            answers.hear(read)
        receipts = [cast("StoredReceipt", unpack(row)) for row in self._receipts.rows(number)]
        planned = (Planned(*row) for row in self._planned.rows(number))
        outside = None
        if self._destinations is not None:
            charges, entities = tuple(found[Charge.__name__]), tuple(found[Entity.__name__])
            outside = Outside(charges, entities, self._destinations)
        return Part(
            answers=answers,
            receipts={one.pk: one for one in receipts},
            records=found[StoredRecord.__name__],
            events=found[AuditEvent.__name__] if self._events_seen else None,
            expected=Expected.of(self._settings, planned),
            outside=outside,
        )


def _names(identity: str, tenant: str, body: str | None) -> list[str]:
    return [identity, f"{tenant} {body}", body] if body else [identity]


@contextmanager
def gathered(folder: Path, settings: RunSettings) -> Iterator[Evidence]:
    """Evidence in a private folder, which is removed afterwards (and before: a killed judge leaves one)."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield Evidence(folder, settings)
    finally:
        shutil.rmtree(folder)
