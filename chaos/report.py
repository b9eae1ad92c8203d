"""What a run of chaos says: the faults by kind, the operator's steps, the verdict, and what failed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaos.faults import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from chaos.run import Outcome
    from loadtest.run import RunSettings

# Of the violations, as many are printed; all kept ones are in verdict.json.
_MOST_SHOWN = 10


def lines(outcome: Outcome) -> Iterator[str]:
    """The tables, for people."""
    yield ""
    for kind in Kind:
        yield f"  {kind.value:<58}{outcome.tally.counts[kind]:>8,}"
    calls = outcome.tally.calls.total()
    yield f"  {'calls of the functions to AWS while faults were on':<58}{calls:>8,}"
    yield ""
    retried, verdict = outcome.retried, outcome.verdict
    yield f"  {'onceward dispatch replay: lost in the stream, brought back':<58}{outcome.lost:>8,}"
    for queue, letters in sorted(outcome.redriven.items()):
        yield f"  {'onceward dlq redrive ' + queue:<58}{letters:>8,}"
    republished = "onceward dispatch replay --republish: the local bus's losses"
    yield f"  {republished:<58}{outcome.bus_lost:>8,}"
    if retried is not None:
        repeated = f"sent again afterwards, {retried.keys:,} keys of tenants"
        yield f"  {repeated:<58}{retried.attempts:>8,}"
    if verdict is not None:
        counts = verdict.counts
        for name, value in (
            ("attempts in all", counts.requests),
            ("  server errors", counts.server_errors),
            ("  without an answer", counts.unknown),
            ("  not sent (the local AWS was down)", counts.failed),
            ("receipts", counts.writes),
            ("  effects", counts.effects),
            ("  refusals that stand", counts.refusals),
            ("records", counts.records),
            ("events", counts.events),
            ("charges and entities outside", counts.charges + counts.entities),
            ("violations", verdict.total),
        ):
            yield f"  {name:<58}{value:>8,}"
    yield f"  {'seconds':<58}{outcome.seconds:>8,.0f}"
    yield ""


def judged(outcome: Outcome) -> list[str]:
    """Why the run failed, if it did: one line for each reason."""
    found = [f"no fault was injected of the kind: {kind.value}" for kind in outcome.tally.missing]
    if not outcome.lost:
        found.append("the restart lost no stream record, so that nothing shows that a replay brings one back")
    found += [f"{letters} letters are left in {queue}" for queue, letters in outcome.left.items() if letters]
    if outcome.waiting:
        found.append(f"{outcome.waiting} messages are left in the queues of work")
    if outcome.retried is None or outcome.verdict is None:
        return [*found, "the run was not judged"]
    found += [f"no answer that stands, however often it was sent: {pk}" for pk in outcome.retried.unanswered]
    verdict = outcome.verdict
    if verdict.counts.writes != outcome.retried.keys:
        found.append(f"{outcome.retried.keys} keys of tenants, and {verdict.counts.writes} receipts")
    found += [
        f"VIOLATION {one.kind.value}: tenant {one.tenant or '-'}, key {one.key or '-'}: {one.detail}"
        for one in verdict.violations[:_MOST_SHOWN]
    ]
    if verdict.total > _MOST_SHOWN:
        found.append(f"and {verdict.total - _MOST_SHOWN:,} more violations")
    return found


def again(settings: RunSettings, home: Path, plant: str | None, skew: int) -> str:
    """How to repeat the run, and where everything of this one is."""
    seconds = settings.requests / settings.rate
    size = f"--requests {settings.requests} --keys {settings.keys} --seconds {seconds:g} --skew {skew}"
    planted = "" if plant is None else f" --plant {plant}"
    return (
        f"Seed {settings.seed}. Again, at this size: make chaos SEED={settings.seed} "
        f"CHAOS='{size}{planted}'\nHistory, faults, verdict and logs are kept in {home}"
    )
