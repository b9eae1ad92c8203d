"""The metrics of a local run in one SQLite file: every value, by the second, so percentiles are exact."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Self

from ops.local.files import open_private_append
from ops.observing.aggregates import aggregate, percentile_of, percentiles
from ops.observing.series import Point, SeriesName, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

# CloudWatch's finest resolution. A storm of a minute is a few thousand values a function: no reason to be
# coarser, and alarms can be judged at any second of it.
_RESOLUTION_MS: Final = 1000
# How long a reader or writer waits for the other's transaction, which takes milliseconds.
_BUSY_SECONDS: Final = 30.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS series (
  id INTEGER PRIMARY KEY, namespace TEXT NOT NULL, name TEXT NOT NULL, dimensions TEXT NOT NULL,
  unit TEXT NOT NULL, origin TEXT, UNIQUE (namespace, name, dimensions));
CREATE TABLE IF NOT EXISTS sample (
  series INTEGER NOT NULL, second INTEGER NOT NULL, value REAL NOT NULL, times INTEGER NOT NULL,
  PRIMARY KEY (series, second, value)) WITHOUT ROWID;
"""
_SERIES: Final = "SELECT id FROM series WHERE namespace = ? AND name = ? AND dimensions = ?"
# Of a file that is only read: the columns that are asked for, and no rows.
_EXPECTED: Final = (
    "SELECT id, namespace, name, dimensions, unit, origin FROM series LIMIT 0",
    "SELECT series, second, value, times FROM sample LIMIT 0",
)
# Parameters of one statement: SQLite's oldest limit is 999.
_SERIES_AT_ONCE: Final = 900


class NoMetrics(FileNotFoundError):
    """There is no such file: nothing was collected there."""


class BrokenMetrics(Exception):
    """The file is not one of metrics, or is damaged; the message names it."""


class MetricStore:
    """Metrics that can be written by one process and read by others meanwhile. Threads may share one.

    A series' unit and origin are those of its first point.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Make the file, private to its user, unless it is there.

        `read_only`: raises NoMetrics instead, and BrokenMetrics of a file that is none of metrics. So does
        whatever reads, where the damage is further down.
        """
        if read_only and not path.exists():
            raise NoMetrics(f"{path}: no such file: no metrics were collected there")
        self._path = path
        self._lock = threading.Lock()
        self._ids: dict[SeriesName, int] = {}
        self._writes = not read_only
        if self._writes:
            os.close(open_private_append(path))
        self._connection = self._connected()
        if self._writes:
            # So that a reader never waits for the writer, nor the other way round.
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = OFF")  # a run's figures outlive no power cut
            self._connection.executescript(_SCHEMA)
        else:
            self._require_schema()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it; what was written is one file then, unless somebody still reads it."""
        with self._lock:
            if self._writes:
                with suppress(sqlite3.OperationalError):  # a reader has it open: the journal stays beside it
                    self._connection.execute("PRAGMA journal_mode = DELETE")
            self._connection.close()

    def put(self, series: SeriesName, unit: Unit, at_ms: int, value: float, times: int = 1) -> None:
        """Add a value that was seen `times` times, at `at_ms` (milliseconds since the epoch)."""
        self.put_all([Point(series, unit, at_ms, value, times)])

    def put_all(self, points: Iterable[Point]) -> None:
        """Add all of them, or none if it fails."""
        counted: Counter[tuple[SeriesName, int, float]] = Counter()
        about: dict[SeriesName, Point] = {}
        for point in points:
            about.setdefault(point.series, point)
            counted[point.series, point.at_ms // _RESOLUTION_MS, float(point.value)] += point.times
        if not counted:
            return
        with self._lock, self._connection as transaction:
            ids = {series: self._id(about[series]) for series in about}
            transaction.executemany(
                "INSERT INTO sample VALUES (?, ?, ?, ?) "
                "ON CONFLICT (series, second, value) DO UPDATE SET times = times + excluded.times",
                ((ids[series], second, value, times) for (series, second, value), times in counted.items()),
            )
            # Only now: an id of a transaction that was undone would be another series' later.
            self._ids |= ids

    def forget(self, before_ms: int) -> None:
        """Drop the values from before that moment (ms since the epoch); the series stay known."""
        with self._lock, self._connection as transaction:
            # By series, so that the primary key finds them.
            transaction.execute(
                "DELETE FROM sample WHERE series IN (SELECT id FROM series) AND second < ?",
                (before_ms // _RESOLUTION_MS,),
            )

    def names(self, namespace: str | None = None, name: str | None = None) -> list[SeriesName]:
        """All series, or those of a namespace, or of a name, in order."""
        asked = (namespace, namespace, name, name)
        rows = self._rows(
            "SELECT namespace, name, dimensions FROM series "
            "WHERE (? IS NULL OR namespace = ?) AND (? IS NULL OR name = ?)",
            asked,
        )
        return sorted((_named(*row) for row in rows), key=_order)

    def unit(self, series: SeriesName) -> Unit | None:
        """What it is measured in; None of a series that is not there."""
        rows = self._rows(_SERIES.replace("id", "unit", 1), _key(series))
        return Unit(rows[0][0]) if rows else None

    def origin(self, series: SeriesName) -> str | None:
        """Where it was observed; None of one that the functions emit themselves, or that is not there."""
        rows = self._rows(_SERIES.replace("id", "origin", 1), _key(series))
        return rows[0][0] if rows else None

    def span(self) -> tuple[int, int] | None:
        """When the first and the last value were seen (ms since the epoch); None of an empty store."""
        first, last = self._rows("SELECT MIN(second), MAX(second) FROM sample", ())[0]
        return None if first is None else (first * _RESOLUTION_MS, last * _RESOLUTION_MS)

    def read(
        self, series: SeriesName, statistic: str, period_seconds: int, start_ms: int, end_ms: int
    ) -> list[tuple[int, float]]:
        """As `read_together`, of one series."""
        return self.read_together([series], statistic, period_seconds, start_ms, end_ms)

    def read_together(
        self,
        several: Sequence[SeriesName],
        statistic: str,
        period_seconds: int,
        start_ms: int,
        end_ms: int,
    ) -> list[tuple[int, float]]:
        """A statistic of all values of these series together, period by period.

        Args:
            several: series that are not there have no values.
            statistic: Sum, Average, Minimum, Maximum, SampleCount, or a percentile p0 to p100.
            period_seconds: the length of a period. They begin at `start_ms`, wherever that is.
            start_ms, end_ms: from when to when (exclusive), ms since the epoch, taken down to a whole second.

        Returns:
            (start of the period in ms, value) of the periods that have values, in order.

        Raises:
            ValueError: there is no such statistic, or no such period.
        """
        if period_seconds < 1:
            raise ValueError(f"period {period_seconds}: must be at least one second")
        percent = percentile_of(statistic)
        ids = [one for one in map(self._known, several) if one is not None]
        start = start_ms // _RESOLUTION_MS
        samples: list[tuple[int, float, int]] = []
        for begin in range(0, len(ids), _SERIES_AT_ONCE):
            some = ids[begin : begin + _SERIES_AT_ONCE]
            samples += self._rows(
                "SELECT (second - ?) / ?, value, SUM(times) FROM sample "  # noqa: S608 - only question marks
                f"WHERE series IN ({','.join('?' * len(some))}) AND second >= ? AND second < ? "
                "GROUP BY 1, 2",
                (start, period_seconds, *some, start, end_ms // _RESOLUTION_MS),
            )
        values = aggregate(samples, statistic) if percent is None else percentiles(samples, percent)
        length = period_seconds * _RESOLUTION_MS
        return [(start * _RESOLUTION_MS + period * length, value) for period, value in values]

    def _connected(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(
                f"{self._path.resolve().as_uri()}?mode={'rw' if self._writes else 'ro'}",
                uri=True,
                timeout=_BUSY_SECONDS,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise BrokenMetrics(f"{self._path}: it cannot be opened: {error}") from error

    def _require_schema(self) -> None:
        try:
            for statement in _EXPECTED:
                self._rows(statement, ())
        except BrokenMetrics:
            self._connection.close()
            raise

    def _rows(self, statement: str, parameters: Sequence[object]) -> list[Any]:
        try:
            with self._lock:
                return self._connection.execute(statement, parameters).fetchall()
        except sqlite3.Error as error:
            raise BrokenMetrics(f"{self._path}: no metrics can be read from it: {error}") from error

    def _known(self, series: SeriesName) -> int | None:
        if series not in self._ids:
            rows = self._rows(_SERIES, _key(series))
            if not rows:
                return None
            self._ids[series] = rows[0][0]
        return self._ids[series]

    def _id(self, first: Point) -> int:
        series = first.series
        if series in self._ids:
            return self._ids[series]
        self._connection.execute(
            "INSERT OR IGNORE INTO series (namespace, name, dimensions, unit, origin) VALUES (?, ?, ?, ?, ?)",
            (*_key(series), first.unit.value, first.origin),
        )
        return int(self._connection.execute(_SERIES, _key(series)).fetchone()[0])


def aligned(at_ms: int, period_seconds: int) -> int:
    """The start of the period that a moment is in, where periods begin with the epoch (ms)."""
    length = period_seconds * _RESOLUTION_MS
    return at_ms // length * length


def _key(series: SeriesName) -> tuple[str, str, str]:
    return series.namespace, series.name, json.dumps(series.dimensions, separators=(",", ":"))


def _order(series: SeriesName) -> tuple[object, ...]:
    """As series compare, but worked out once each: a dashboard's searches sort thousands dozens of times."""
    return series.namespace, series.name, series.dimensions


@lru_cache(maxsize=1 << 16)
def _named(namespace: str, name: str, dimensions: str) -> SeriesName:
    return SeriesName(namespace, name, tuple((key, value) for key, value in json.loads(dimensions)))
