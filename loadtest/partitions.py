"""Rows that are kept until all of one name are together: in memory for a few, in files for a whole run."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Protocol
from zlib import crc32

from loadtest.run import open_private

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Characters that wait for one write: with a file opened for each part that has some, a few writes a second,
# and far below what a part takes when it is read.
_WAITING = 1 << 20


class Shelf(Protocol):
    """Keeps rows by name."""

    def add(self, name: str, row: list[Any]) -> None:
        """Keep one row. All rows of one name come in the same part, in the order in which they were added."""
        ...

    def parts(self) -> Iterator[list[list[Any]]]:
        """The rows that were kept, a part at a time; lists and texts, whatever sequences were added."""
        ...


class Pile:
    """A shelf in memory, all in one part."""

    def __init__(self) -> None:
        self._rows: list[list[Any]] = []

    def add(self, _name: str, row: list[Any]) -> None:
        """Keep one row."""
        self._rows.append(row)

    def parts(self) -> Iterator[list[list[Any]]]:
        """All rows."""
        yield self._rows


class Partitions:
    """A shelf of private files, one for each part; in memory are the rows that wait to be written."""

    def __init__(self, folder: Path, count: int) -> None:
        """`folder` must exist, and be this shelf's alone. `count`: of parts, at least 1."""
        self._folder = folder
        self.count = count
        self._waiting: defaultdict[int, list[str]] = defaultdict(list)
        self._characters = 0

    def part_of(self, name: str) -> int:
        """The part that a name belongs to."""
        # Half of a surrogate pair, which JSON may hold, has no other bytes.
        return crc32(name.encode("utf-8", "surrogatepass")) % self.count

    def add(self, name: str, row: list[Any]) -> None:
        """Keep one row, of what JSON can say."""
        self.add_to(self.part_of(name), row)

    def add_to(self, part: int, row: list[Any]) -> None:
        """Keep one row in a part that is chosen."""
        line = json.dumps(row, separators=(",", ":"))
        self._waiting[part].append(line)
        self._characters += len(line)
        if self._characters >= _WAITING:
            self._write()

    def parts(self) -> Iterator[list[list[Any]]]:
        """The rows of each part."""
        for part in range(self.count):
            yield list(self.rows(part))

    def rows(self, part: int) -> Iterator[list[Any]]:
        """The rows of one part, in the order in which they were added."""
        self._write()
        file = self._file(part)
        if file.exists():
            with file.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)

    def _write(self) -> None:
        for part, lines in self._waiting.items():
            with open_private(self._file(part), "a") as file:
                file.writelines(f"{line}\n" for line in lines)
        self._waiting.clear()
        self._characters = 0

    def _file(self, part: int) -> Path:
        return self._folder / f"{part}.jsonl"
