"""What the local platform consists of: one entry a resource, kept by URN in a file.

Every change is appended to a journal at once and folded into the state file at the end, so that an
update that fails, is interrupted or is killed leaves a record of all that it made.
"""

import json
import os
import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ops.local.errors import LocalPlatformError
from ops.local.files import open_private_append, read_json, write_private
from ops.local.urn import type_of

SCHEMA = 1
"""Of the state file; another number is refused rather than misread."""


@dataclass(frozen=True)
class Entry:
    """One resource as it was last made."""

    urn: str
    custom: bool
    """Made by a provider; False for a component, which only groups others."""
    id: str = ""
    """The provider's name for it ('' for a component)."""
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    secret_names: tuple[str, ...] = ()
    """The outputs that are secrets."""
    dependencies: tuple[str, ...] = ()
    """URNs that must outlive it: its parent and all it was made from."""
    property_dependencies: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """URNs by the input that was made from them, sorted; inputs made from none are left out."""
    protect: bool = False
    retain: bool = False
    """Leave the thing alone when the entry goes."""


class State:
    """The entries of one stack. Safe to use from several threads.

    `entries`: those that the program registered last. `condemned`: predecessors of replaced ones, still to
    be deleted. `begun`: URNs whose making broke off, so that nobody knows whether they are there. `retained`:
    (type, id) of what went out of the program and was to stay: it is nobody's leftover.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._journal = path.with_suffix(".journal")
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self.entries: dict[str, Entry] = {}
        self.condemned: list[Entry] = []
        self.begun: set[str] = set()
        self.retained: set[tuple[str, str]] = set()
        self.outputs: dict[str, Any] = {}
        self._load()

    def begin(self, urn: str) -> None:
        """Record that the resource is about to be made; `put` ends it."""
        self._apply_and_note({"begin": urn})

    def put(self, entry: Entry, *, condemn: Entry | None = None) -> None:
        """Record that the entry was made or changed, and that its predecessor waits to be deleted."""
        self._apply_and_note({"put": asdict(entry), "condemn": asdict(condemn) if condemn else None})

    def remove(self, entry: Entry) -> None:
        """Record that the entry, or that condemned predecessor, was deleted (or retained, if it says so)."""
        self._apply_and_note({"remove": asdict(entry)})

    def rename(self, old_urn: str, entry: Entry) -> None:
        """Record that the entry is the one known by another URN until now (an alias)."""
        self._apply_and_note({"rename": old_urn, "put": asdict(entry)})

    def present(self) -> list[Entry]:
        """The entries of this moment, which other threads may be changing."""
        with self._lock:
            return list(self.entries.values())

    def owns(self, resource_type: str, identifier: str) -> bool:
        """Whether an entry of the type has the provider's id, or had it and was to be retained."""
        with self._lock:
            return (resource_type, identifier) in self.retained or any(
                e.id == identifier and type_of(e.urn) == resource_type for e in self.entries.values()
            )

    def save(self, outputs: dict[str, Any] | None = None) -> None:
        """Fold the journal into the state file; `outputs` are the stack's, if the update came so far."""
        with self._lock:
            if outputs is not None:
                self.outputs = outputs
            document = {
                "schema": SCHEMA,
                "outputs": self.outputs,
                "entries": [asdict(entry) for entry in self.entries.values()],
                "condemned": [asdict(entry) for entry in self.condemned],
                "begun": sorted(self.begun),
                "retained": sorted(self.retained),
            }
            text = json.dumps(document, indent=1)
            if not self._path.exists() or self._path.read_text(encoding="utf-8") != text:
                write_private(self._path, text)  # its time is when something last changed
            self._end_journal()

    def changed_at(self) -> float | None:
        """When a resource was last made, changed or deleted (seconds since the epoch)."""
        times = [p.stat().st_mtime for p in (self._path, self._journal) if p.exists()]
        return max(times, default=None)

    def forget(self) -> None:
        """Drop every entry, and the files."""
        with self._lock:
            self.entries, self.condemned, self.outputs = {}, [], {}
            self.begun, self.retained = set(), set()
            self._path.unlink(missing_ok=True)
            self._end_journal()

    def _end_journal(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._journal.unlink(missing_ok=True)

    def _load(self) -> None:
        document = read_json(self._path) or {"schema": SCHEMA}
        if document["schema"] != SCHEMA:
            raise LocalPlatformError(f"{self._path}: written by another version of Onceward; start afresh")
        self.entries = {e["urn"]: _entry(e) for e in document.get("entries", [])}
        self.condemned = [_entry(e) for e in document.get("condemned", [])]
        self.begun = set(document.get("begun", []))
        self.retained = {(kind, identifier) for kind, identifier in document.get("retained", [])}
        self.outputs = document.get("outputs", {})
        if self._journal.exists():
            for line in self._journal.read_text(encoding="utf-8").splitlines():
                try:
                    note = json.loads(line)
                except ValueError:
                    break  # the last line of a killed update: written before the call's answer was used
                self._apply(note)

    def _apply_and_note(self, note: dict[str, Any]) -> None:
        with self._lock:
            self._apply(note)
            if self._descriptor is None:
                self._descriptor = open_private_append(self._journal)
            os.write(self._descriptor, (json.dumps(note) + "\n").encode())

    def _apply(self, note: dict[str, Any]) -> None:
        if note.get("begin"):
            self.begun.add(note["begin"])
        if note.get("rename"):
            self.entries.pop(note["rename"], None)
        if note.get("put"):
            self.entries[note["put"]["urn"]] = _entry(note["put"])
            self.begun.discard(note["put"]["urn"])
        if note.get("condemn"):
            self.condemned.append(_entry(note["condemn"]))
        if note.get("remove"):
            entry = _entry(note["remove"])
            if entry.custom and entry.retain:
                self.retained.add((type_of(entry.urn), entry.id))
            if entry in self.condemned:
                self.condemned.remove(entry)
            elif self.entries.get(entry.urn) == entry:
                del self.entries[entry.urn]


def _entry(document: dict[str, Any]) -> Entry:
    """The entry as JSON has it, with its tuples; an earlier version wrote none by property."""
    lists = {name: tuple(document[name]) for name in ("secret_names", "dependencies")}
    by_property = document.get("property_dependencies", {})
    properties = {name: tuple(urns) for name, urns in by_property.items()}
    return Entry(**(document | lists | {"property_dependencies": properties}))
