"""The report of a run: one HTML file that opens offline. Pure, but for reading its own template."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import resources
from shlex import quote
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined

from loadtest import charts, tables
from loadtest.charts import Series
from loadtest.tables import milliseconds, number
from loadtest.told import Told

if TYPE_CHECKING:
    from loadtest.measures import Measures
    from loadtest.run import RunSettings
    from loadtest.verdict import Verdict

# Okabe and Ito's palette: told apart with every common kind of colour blindness.
_BLUE, _ORANGE, _GREEN, _VERMILION = "#0072b2", "#e69f00", "#009e73", "#d55e00"
_PURPLE, _SKY, _GREY, _PALE, _INK = "#cc79a7", "#56b4e9", "#8a97a5", "#c3d3e3", "#1c2733"
_YELLOW = "#f0e442"

# Violations that are seen without a click: the charts must not be pages away.
_SHOWN_AT_ONCE = 15

_TOLD_COLORS = {
    Told.NEW: _GREEN,
    Told.REFUSED: _YELLOW,
    Told.REPLAY: _SKY,
    Told.IN_PROGRESS: _PALE,
    Told.CONFLICT: _ORANGE,
    Told.THROTTLED: _PURPLE,
    Told.REJECTED: _BLUE,
    Told.SERVER_ERROR: _VERMILION,
    Told.NONE: _INK,
    Told.DROPPED: _GREY,
}


def render(run: RunSettings, verdict: Verdict, measures: Measures, *, dashboards: str | None = None) -> str:
    """Make the report.

    Args:
        run: the settings. verdict: of the checker. measures: of the history.
        dashboards: the command that opens the run's dashboards; None: no metrics were collected.
    """
    template = resources.files("loadtest").joinpath("report.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(template).render(
        run=run,
        verdict=verdict,
        counts=verdict.counts,
        n=number,
        when=datetime.fromtimestamp(measures.began_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        again=again(run),
        dashboards=dashboards,
        tiles=_tiles(run, verdict, measures),
        charts=_charts(verdict, measures),
        tables=[tables.operations(verdict, measures), tables.scenarios(measures)],
        shares=_shares(measures),
        shown_at_once=_SHOWN_AT_ONCE,
    )


def again(run: RunSettings) -> str:
    """The commands that send the same storm again, to the same platform.

    A local one may be down by then, as after the demo: bringing up one that runs changes nothing.
    """
    where = "" if run.home is None else f" --home {quote(run.home)}"
    first = "" if run.home is None else f"onceward local up{where} && "
    return (
        f"{first}onceward storm --stage {run.stage} --requests {run.requests} --keys {run.keys} "
        f"--seed {run.seed} --rate {run.rate:g} --burst {run.burst} --users {run.users} "
        f"--workers {run.workers} "
        + " ".join(f"--tenants {tenant}" for tenant in run.tenants)
        + "".join(f" --operations {operation}" for operation in run.operations)
        + where
    )


def _tiles(run: RunSettings, verdict: Verdict, measures: Measures) -> list[tuple[str, str, str, bool]]:
    counts, latency = verdict.counts, measures.latency
    rate = measures.requests / measures.seconds if measures.seconds else 0.0
    return [
        ("requests", number(counts.requests), f"{rate:,.0f}/s over {measures.seconds:.0f} s", False),
        ("keys", number(counts.keys), f"{number(counts.tenant_keys)} with their tenants", False),
        ("effects", number(counts.effects), _effects(verdict), False),
        ("replays", number(counts.replays), "the first answer again", False),
        ("conflicts", number(counts.conflicts), "another body: 422", False),
        ("in progress", number(counts.in_progress), "409: the first still ran", False),
        ("final refusals", number(counts.refusals), "declined, or slot taken: no effect", False),
        ("violations", number(verdict.total), "must be 0", verdict.total > 0),
        ("keys in an order", number(verdict.ordered.keys), _ordered(verdict), verdict.ordered.undecided > 0),
        ("hung up", number(counts.dropped), "on purpose: may have been written", False),
        ("no answer", number(counts.unknown), "timed out: may have been written", counts.unknown > 0),
        ("not sent", number(counts.failed), "no connection came about", counts.failed > 0),
        ("server errors", number(counts.server_errors), "5xx, retryable", counts.server_errors > 0),
        ("never accepted", number(counts.never_accepted), "keys without a 2xx", counts.never_accepted > 0),
        ("p50", milliseconds(latency.p50), "from the intended start", False),
        ("p99", milliseconds(latency.p99), f"at {run.rate:g}/s intended", False),
    ]


def _ordered(verdict: Verdict) -> str:
    """How much was checked against the sequential specification of a key."""
    ordered = verdict.ordered
    searched = f"{number(ordered.attempts)} attempts against the specification"
    return f"{searched}, {number(ordered.undecided)} keys undecided" if ordered.undecided else searched


def _effects(verdict: Verdict) -> str:
    counts = verdict.counts
    events = f"{number(counts.events)} events" if verdict.events_checked else "events not checked"
    outside = f"{number(counts.charges)} charges, {number(counts.entities)} at the CRM"
    if not verdict.downstream_checked:
        outside = "charges and CRM not checked"
    return f"{number(counts.records)} records, {events}, {outside}"


def _charts(verdict: Verdict, measures: Measures) -> list[dict[str, Any]]:
    if not measures.buckets:
        return []
    return [_latency_chart(measures), _answers_chart(measures), _writes_chart(verdict)]


def _latency_chart(measures: Measures) -> dict[str, Any]:
    buckets = measures.buckets
    series = [
        Series("p99", _VERMILION, [one.latency.p99 for one in buckets]),
        Series("p95", _ORANGE, [one.latency.p95 for one in buckets]),
        Series("p50", _BLUE, [one.latency.p50 for one in buckets]),
    ]
    return {
        "title": "Latency over time",
        "note": "From the moment at which the plan wanted a request sent, so that a slow platform cannot "
        "hide by slowing its clients down. Without the warm-up.",
        "legend": [(one.name, one.color) for one in series],
        "svg": charts.lines([one.start_s for one in buckets], series, "seconds into the run", "ms"),
    }


def _answers_chart(measures: Measures) -> dict[str, Any]:
    buckets, width = measures.buckets, measures.width_s
    series = [
        Series(seen.value, color, [float(one.seen.get(seen, 0)) for one in buckets])
        for seen, color in _TOLD_COLORS.items()
        if any(one.seen.get(seen) for one in buckets)
    ]
    xs = [one.start_s for one in buckets]
    return {
        "title": "Answers over time",
        "note": f"Requests by what their client saw and when, in steps of {width:g} s.",
        "legend": [(one.name, one.color) for one in series],
        "svg": charts.stacked(xs, width, series, "seconds into the run", "requests"),
    }


def _writes_chart(verdict: Verdict) -> dict[str, Any]:
    drawn = [
        (f"{one.tenant} {one.key.strip()}", one.requests, one.writes)
        for one in sorted(verdict.pairs, key=lambda pair: -pair.requests)
    ]
    spread = ", ".join(
        f"{number(times)} with {writes}" for writes, times in sorted(verdict.writes_per_key.items())
    )
    return {
        "title": "Writes per key",
        "note": f"Pairs of tenant and key by their writes: {spread}. However many requests a key gets, "
        "its mark belongs at 1. A refusal that stands is one write, too: its stored answer.",
        "legend": [("requests", _PALE), ("one write", _GREEN), ("none, or more than one", _VERMILION)],
        "svg": charts.requests_and_writes(drawn, (_PALE, _GREEN, _VERMILION)),
    }


def _shares(measures: Measures) -> list[tuple[str, int, str]]:
    counted = {seen: sum(row.seen[seen] for row in measures.scenarios.values()) for seen in Told}
    total = max(1, measures.requests)
    return [(seen.value, times, f"{times / total:.1%}") for seen, times in counted.items() if times]
