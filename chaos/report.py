"""What a run of chaos says: the faults by kind, the operator's steps, the verdict, and what failed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos.faults import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from chaos.outcome import Outcome
    from loadtest.run import RunSettings
    from loadtest.verdict import Verdict

# Of the violations, and of keys, as many are printed; all kept ones are in verdict.json.
_MOST_SHOWN: Final = 10
EXPECTED: Final = frozenset(
    {
        ("ingest", "dynamodb"),
        ("execute", "dynamodb"),
        ("webhooks", "dynamodb"),
        ("webhooks", "ssm"),
        ("dispatch", "dynamodb"),
        ("dispatch", "sns"),
        ("dispatch", "sqs"),
        ("fulfil", "dynamodb"),
        ("fulfil", "events"),
        ("deliver", "dynamodb"),
        ("notify", "sns"),
    }
)
"""Functions and the services that a storm over all operations makes them call, before and after the restart:
a function that went past the proxy had no faults. (`reconcile` runs once a minute, which may be outside.)"""


def lines(outcome: Outcome) -> Iterator[str]:
    """The tables, for people; of a run that broke off, what there is."""
    yield ""
    for name, value in (*_faults(outcome), *_steps(outcome), *_counts(outcome.verdict)):
        yield f"  {name:<58}{value:>8,}"
    yield f"  {'seconds':<58}{outcome.seconds:>8,.0f}"
    yield ""


def _faults(outcome: Outcome) -> Iterator[tuple[str, int]]:
    for kind in Kind:
        yield kind.value, outcome.tally.counts[kind]
    yield "calls of the functions to AWS while faults were on", outcome.tally.calls.total()
    yield "seconds between the two clocks furthest apart", outcome.tally.gap


def _steps(outcome: Outcome) -> Iterator[tuple[str, int]]:
    yield "onceward dispatch replay: lost in the stream, brought back", outcome.lost
    yield "onceward dispatch replay --republish: cut off half-way", outcome.republished
    for queue, letters in sorted(outcome.redriven.items()):
        yield f"onceward dlq redrive {queue}", letters
    yield "events of orders that notify took off the bus", outcome.delivered
    yield "  calls of it made again, as EventBridge does", outcome.bus_again
    if outcome.retried is not None:
        yield f"sent again afterwards, {outcome.retried.keys:,} keys of tenants", outcome.retried.attempts


def _counts(verdict: Verdict | None) -> Iterator[tuple[str, int]]:
    if verdict is None:
        return
    counts = verdict.counts
    yield "attempts in all", counts.requests
    yield "  server errors", counts.server_errors
    yield "  without an answer", counts.unknown
    yield "  not sent (the local AWS was down)", counts.failed
    yield "receipts", counts.writes
    yield "  effects", counts.effects
    yield "  refusals that stand", counts.refusals
    yield "records", counts.records
    yield "events", counts.events
    yield "charges and entities outside", counts.charges + counts.entities
    yield "violations", verdict.total


def judged(outcome: Outcome, skew: int) -> list[str]:
    """Why the run failed, if it did: one line for each reason. `skew`: how far clocks were to be off (s)."""
    found = [*_proved_nothing(outcome, skew), *_left_behind(outcome)]
    if outcome.retried is None or outcome.verdict is None:
        return [*found, "the run was not judged"]
    found += [f"no answer that stands, however often it was sent: {pk}" for pk in outcome.retried.unanswered]
    return [*found, *_verdict(outcome.verdict, outcome.retried.keys)]


def _proved_nothing(outcome: Outcome, skew: int) -> Iterator[str]:
    tally = outcome.tally
    for kind in tally.missing:
        yield f"no fault was injected of the kind: {kind.value}"
    for when, seen in (("before", tally.before), ("after", tally.after)):
        for function, service in sorted(EXPECTED - seen.keys()):
            yield f"no call of {function} to {service} came through the proxy {when} the restart"
    if tally.gap < skew:
        yield f"no two clocks were {skew} s apart, but {tally.gap} s at most"
    if not outcome.lost:
        yield "the restart lost no stream record, so that nothing shows that a replay brings one back"
    if not outcome.delivered:
        yield "notify took no event off the bus"


def _left_behind(outcome: Outcome) -> Iterator[str]:
    for pk in outcome.unexplained[:_MOST_SHOWN]:
        tenant, _, key = pk.partition("#")
        yield f"LOST by dispatch, and by no restart: the record of tenant {tenant}, key {key}"
    if len(outcome.unexplained) > _MOST_SHOWN:
        yield f"dispatch lost {len(outcome.unexplained)} records that no restart lost"
    for queue, letters in outcome.left.items():
        if letters:
            yield f"{letters} letters are left in {queue}"
    if outcome.waiting:
        yield f"{outcome.waiting} messages are left in the queues of work"


def _verdict(verdict: Verdict, keys: int) -> Iterator[str]:
    if not verdict.events_checked:
        yield "no events were checked: a tenant has no audit queue"
    if not verdict.downstream_checked:
        yield "nothing outside was checked: no stand-in told what reached it"
    if verdict.counts.writes != keys:
        yield f"{keys} keys of tenants, and {verdict.counts.writes} receipts"
    for one in verdict.violations[:_MOST_SHOWN]:
        where = f"tenant {one.tenant or '-'}, key {one.key or '-'}"
        yield f"VIOLATION {one.kind.value}: {where}: {one.detail}"
    if verdict.total > _MOST_SHOWN:
        yield f"and {verdict.total - _MOST_SHOWN:,} more violations"


def again(settings: RunSettings, home: Path, plant: str | None, skew: int) -> str:
    """How to repeat the run, and where everything of this one is."""
    seconds = settings.requests / settings.rate
    size = f"--requests {settings.requests} --keys {settings.keys} --seconds {seconds:g} --skew {skew}"
    planted = "" if plant is None else f" --plant {plant}"
    return (
        f"Seed {settings.seed}. Again, at this size: make chaos SEED={settings.seed} "
        f"CHAOS='{size}{planted}'\nHistory, faults, verdict and logs are kept in {home}"
    )
