"""The tables of a report: operations and scenarios, with what must be known to read them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from loadtest import tally
from loadtest.schedule import Scenario
from loadtest.told import Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadtest.measures import Measures, Row
    from loadtest.verdict import Verdict

# From here on a latency is given in seconds: it is about waiting, not about speed.
_SECONDS_FROM_MS = 10_000

_LATENCY_NOTE = (
    "Latency is in milliseconds from the intended start to the answer, or to giving up on one; planned "
    "hang-ups are left out"
)
_ANSWERS: Final = {
    "new": Told.NEW,
    "replays": Told.REPLAY,
    "in progress": Told.IN_PROGRESS,
    "refused": Told.REFUSED,
    "conflicts": Told.CONFLICT,
    "hung up": Told.DROPPED,
    "no answer": Told.NONE,
    "5xx": Told.SERVER_ERROR,
}
# Rows whose latency is not what their name says alone.
_LABELS: Final = {Scenario.RETRY.value: "retry (latency: those sent at once after a hang-up)"}

ONE_EFFECT_EACH: Final = (
    "One effect each: a key (counted once for each tenant that sent it) is one record or one stored refusal; "
    "a record is one event, and one charge, entity or slot where its operation has one. There may be more "
    "records than new answers, and more stored refusals than refused: the client of a first answer may have "
    "hung up (or heard nothing, or a 5xx) though its request was taken, and the next one heard a replay."
)
"""How the figures of an operation hang together, for people."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the report; `note` stands above it. The first cell of each row is its name."""

    title: str
    note: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]


def operations(verdict: Verdict, measures: Measures) -> Table:
    """Of each operation: what was sent and heard, what is stored and outside, and how long it took."""
    return Table(
        "Operations",
        f"{ONE_EFFECT_EACH} {_LATENCY_NOTE}, and so is the warm-up.",
        ("operation", "keys", "requests", *_ANSWERS, *STORED_HEAD, "p50", "p99"),
        [
            (name, *_heard(row), *stored(name, verdict.by_operation.get(name, {})), *_times(row)[::2])
            for name, row in measures.operations.items()
        ],
    )


def scenarios(measures: Measures) -> Table:
    """Of each scenario: what was sent and heard, and how long it took."""
    return Table(
        "Scenarios",
        f"{_LATENCY_NOTE}. In the row of retries it is that of the retries alone: each is sent at once when "
        "its client has hung up, and counts from then.",
        ("scenario", "keys", "requests", *_ANSWERS, "p50", "p95", "p99"),
        [(_LABELS.get(name, name), *_heard(row), *_times(row)) for name, row in measures.scenarios.items()],
    )


STORED_HEAD: Final = ("records", "stored refusals", "events", "effect outside")
"""What `stored` tells."""


def stored(operation: str, left: Mapping[str, int]) -> tuple[str, ...]:
    """What an operation left behind. `left`: as counted by `loadtest.tally.by_operation`."""
    return (
        number(left.get("records", 0)),
        number(left.get("refusedForGood", 0)),
        tally.events(left),
        tally.outside(operation, left),
    )


def number(value: float) -> str:
    """A whole number, with commas."""
    return f"{value:,.0f}"


def milliseconds(value: float | None) -> str:
    """A latency; `-` where there is none."""
    if value is None:
        return "-"
    return f"{value:,.0f} ms" if value < _SECONDS_FROM_MS else f"{value / 1000:,.1f} s"


def _heard(row: Row) -> tuple[str, ...]:
    counted = (len(row.keys), row.seen.total(), *(row.seen[told] for told in _ANSWERS.values()))
    return tuple(map(number, counted))


def _times(row: Row) -> tuple[str, ...]:
    latency = row.latencies.percentiles()
    return tuple(map(milliseconds, (latency.p50, latency.p95, latency.p99)))
