"""A storm from start to verdict, with its progress on the terminal: what storm, verify and demo share."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from shlex import quote
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import typer

from loadtest import history, report, storm, tables
from loadtest.measures import measure
from loadtest.run import open_private
from loadtest.told import Told
from loadtest.verify import verify
from ops.output import print_json
from ops.progress_bar import progress_bar
from ops.stages import HOME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadtest.measures import Measures, Row
    from loadtest.run import RunDirectory, RunSettings
    from loadtest.target import Target
    from loadtest.verdict import Verdict
    from loadtest.verify import Progress

# The demo's size (issue 2: at least 6,000 requests over 200 keys).
REQUESTS: Final = 6000
KEYS: Final = 200
# Requests a second that the local platform serves on 2 cores without a queue, with room for whatever else
# the machine does (docs/adr/0041). Eight users and bursts of eight are as many as it can serve at once.
RATE: Final = 120.0
USERS: Final = 8
BURST: Final = 8
# How long a verdict waits for what is missing, from the last change: longer than the visibility timeout
# after which the retry queue hands a parked record to dispatch again (30 s).
PATIENCE_SECONDS: Final = 60.0

# Printed of the violations; all that were kept are in verdict.json and in the report.
_MOST_SHOWN = 10
# Characters in a line of the note below the tables: as wide as they are.
_LINE = 110


def send(
    directory: RunDirectory,
    settings: RunSettings,
    home: Path,
    watch: Callable[[int], None] = lambda _sent: None,
    *,
    quiet: bool,
) -> None:
    """Send the storm. Raises `loadtest.storm.StormError`.

    `watch` is called several times a second, with how many requests are in the history by then.
    """

    def look(sent: int) -> None:
        progress(sent, settings.requests)
        watch(sent)

    with progress_bar("Storm", quiet=quiet) as progress:
        storm.run(directory, settings, home, look)


@dataclass(frozen=True, slots=True)
class Judged:
    """A run's verdict and figures."""

    verdict: Verdict
    measures: Measures


def judge(directory: RunDirectory, target: Target, patience_seconds: float, *, quiet: bool) -> Judged:
    """Wait, read, check, and write `verdict.json`, `report.html` and `summary.json`.

    Raises what `verify` raises.
    """
    with _bars(quiet=quiet) as progress:
        verdict = verify(directory, target, patience_seconds, progress)
    measures = measure(lambda: history.read(directory.path))
    rendered = report.render(directory.settings(), verdict, measures, dashboards=dashboards(directory))
    directory.report.write_text(rendered, encoding="utf-8")
    judged = Judged(verdict, measures)
    with open_private(directory.summary, "w") as file:
        json.dump(_summary(directory, judged), file, indent=2)
    return judged


@contextmanager
def _bars(*, quiet: bool) -> Iterator[Progress]:
    """A bar for each thing that is done, one after the other: a terminal shows one at a time."""
    bars: dict[str, Callable[[int, int], None]] = {}
    with ExitStack() as shown:

        def progress(what: str, done: int, of: int) -> None:
            if what not in bars:
                shown.close()
                bars[what] = shown.enter_context(progress_bar(what, quiet=quiet))
            bars[what](done, of)

        yield progress


def tell(directory: RunDirectory, judged: Judged, home: Path | None = None, *, as_json: bool) -> None:
    """Print the verdict and end the command with exit code 1 when a promise was broken."""
    verdict, measures = judged.verdict, judged.measures
    if as_json:
        print_json(_summary(directory, judged))
    else:
        _print_verdict(directory, verdict, measures, home)
    if not verdict.passed:
        raise typer.Exit(1)


def _summary(directory: RunDirectory, judged: Judged) -> dict[str, Any]:
    """The verdict and the figures for a script. `verdict.json` is written by then."""
    settings, measures = directory.settings(), judged.measures
    return {
        "runId": settings.run_id,
        "seed": settings.seed,
        "seconds": round(measures.seconds, 1),
        "latencyMs": asdict(measures.latency),
        "operations": {name: _figures(row) for name, row in measures.operations.items()},
        **json.loads(directory.verdict.read_text(encoding="utf-8")),
        "directory": str(directory.path),
        "report": str(directory.report),
    }


def _figures(row: Row) -> dict[str, Any]:
    """One operation's figures for a script."""
    counted = {name: row.seen[told] for name, told in _COLUMNS}
    return {"requests": row.seen.total(), **counted, "latencyMs": asdict(row.latencies.percentiles())}


def _print_verdict(directory: RunDirectory, verdict: Verdict, measures: Measures, home: Path | None) -> None:
    typer.echo("")
    for name, value, note in _rows(verdict, measures):
        typer.echo(f"  {name:<15}{value:>8,}   {note}".rstrip())
    typer.echo("\n" + "\n".join(_by_operation(verdict, measures)) + "\n")
    for one in verdict.violations[:_MOST_SHOWN]:
        place = f"tenant {one.tenant or '-'}, key {one.key or '-'}"
        typer.echo(f"  VIOLATION {one.kind.value}: {place}: {one.detail}")
    if verdict.total > _MOST_SHOWN:
        typer.echo(f"  ... and {verdict.total - _MOST_SHOWN:,} more: {directory.verdict}")
    typer.echo(f"\n{'PASSED' if verdict.passed else 'FAILED'}. Report: {directory.report}")
    opens = dashboards(directory)
    if opens is not None:
        typer.echo(f"Dashboards: {opens}")
    if not verdict.passed:
        typer.echo(again(directory, home))


def _rows(verdict: Verdict, measures: Measures) -> list[tuple[str, int, str]]:
    """What was counted, with what it means."""
    counts = verdict.counts
    return [
        ("requests", counts.requests, f"in {measures.seconds:.0f} s, {_latency(measures)}"),
        ("keys", counts.keys, f"{counts.tenant_keys:,} with their tenants"),
        ("writes", counts.writes, "receipts: those of the effects and of the refused"),
        ("effects", counts.effects, f"{counts.records:,} records, {_events(verdict)}"),
        ("refused", counts.refusals, "for good, without an effect: a card declined, a slot taken"),
        ("outside", counts.charges + counts.entities, _outside(verdict)),
        ("replays", counts.replays, "the first answer again"),
        ("in progress", counts.in_progress, "409: the first request still ran"),
        ("conflicts", counts.conflicts, "a key used again for another body"),
        ("hung up", counts.dropped, "dropped on purpose: may have been written"),
        ("no answer", counts.unknown, "timed out: may have been written"),
        ("not sent", counts.failed, "no connection came about"),
        ("server errors", counts.server_errors, "5xx: retryable, no violation"),
        ("throttled", counts.throttled, "429"),
        ("never accepted", counts.never_accepted, "keys without an answer that stands or a receipt"),
        ("in an order", verdict.ordered.keys, _ordered(verdict)),
        ("violations", verdict.total, ""),
    ]


def dashboards(directory: RunDirectory) -> str | None:
    """The command that opens the dashboards of a run; None if no metrics were collected."""
    return f"onceward dashboard --run {quote(str(directory.path))}" if directory.metrics.exists() else None


def again(directory: RunDirectory, home: Path | None) -> str:
    """How to judge a run once more, while its stage is up. `home`: the local platform's; None: the usual."""
    where = "" if home in {None, HOME} else f" --home {home}"
    return (
        f"Everything of the run is in {directory.path}. While its stage is up, this judges it again:\n"
        f"onceward verify --history {directory.path}{where}"
    )


# The columns of the table by operation: what it is called there, and which answers it counts.
_COLUMNS = (
    ("new", Told.NEW),
    ("replays", Told.REPLAY),
    ("in progress", Told.IN_PROGRESS),
    ("refused", Told.REFUSED),
    ("conflicts", Told.CONFLICT),
    ("hung up", Told.DROPPED),
)


def _by_operation(verdict: Verdict, measures: Measures) -> Iterator[str]:
    """The lines of two tables: what each operation's clients heard, and what it left behind."""
    operations = measures.operations.items()
    heard = [(name, *_heard(row)) for name, row in operations]
    left = [
        (name, f"{len(row.keys):,}", *tables.stored(name, verdict.by_operation.get(name, {})))
        for name, row in operations
    ]
    head = ("answers", "requests", *(name for name, _ in _COLUMNS), "p50 ms", "p99 ms")
    yield from _table([head, *heard])
    yield ""
    yield from _table([("effects", "keys", *tables.STORED_HEAD), *left])
    yield ""
    yield from wrap(tables.ONE_EFFECT_EACH, _LINE, initial_indent="  ", subsequent_indent="  ")


def _heard(row: Row) -> tuple[str, ...]:
    counted = (row.seen.total(), *(row.seen[told] for _, told in _COLUMNS))
    latency = row.latencies.percentiles()
    times = ("-" if one is None else f"{one:,.0f}" for one in (latency.p50, latency.p99))
    return (*(f"{one:,}" for one in counted), *times)


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Rows in columns: the first to the left, the others to the right."""
    widths = [max(10, *map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        aligned = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield f"  {name:<13}" + "  ".join(aligned)


def _ordered(verdict: Verdict) -> str:
    ordered = verdict.ordered
    undecided = f", {ordered.undecided:,} of them UNDECIDED" if ordered.undecided else ""
    return (
        f"keys checked against the sequential specification{undecided}: {ordered.attempts:,} attempts, "
        f"{ordered.most_attempts:,} of one key"
    )


def _outside(verdict: Verdict) -> str:
    if not verdict.downstream_checked:
        return "not checked: no stand-in of provider and CRM here"
    return f"{verdict.counts.charges:,} charges, {verdict.counts.entities:,} entities at the CRM"


def _latency(measures: Measures) -> str:
    latency = measures.latency
    if latency.p50 is None or latency.p99 is None:
        return "none answered"
    return f"p50 {latency.p50:,.0f} ms and p99 {latency.p99:,.0f} ms from the intended start"


def _events(verdict: Verdict) -> str:
    return (
        f"{verdict.counts.events:,} events"
        if verdict.events_checked
        else "events not checked: no audit queue"
    )
