"""The work of `onceward dlq`: look, say what there is, ask, send it back, say how far it came."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn

from ops.asking import confirmed
from ops.dead_letters import AGES, Wanted
from ops.letters import is_encrypted
from ops.output import print_columns, print_json
from ops.redrive import Pace, RedriveStopped, redrive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.dead_letters import Census, DeadLetters
    from ops.letters import Letter
    from ops.redrive import Destination, Marks

_INTERRUPTED: Final = 130
"""128 + SIGINT (2): the exit code of a command that Ctrl-C ended, by the shells' convention."""
_REASONS: Final = 3
# By how much an order may have been accepted before its event came to a dead-letter queue: the rule tries for
# a day (infra.components.event_bus), and the order may have waited for its destination as long before.
_TRIED_MS: Final = 2 * 86_400_000


@dataclass(frozen=True)
class Way:
    """One dead-letter queue and the way back from it; `to` is what people call the destination."""

    queue: DeadLetters
    to: str
    destination: Destination
    marks: Marks


@dataclass(frozen=True)
class Asked:
    """What the operator asked of a redrive; `limit` counts letters that are sent, None for all."""

    wanted: Wanted
    rate: float
    limit: int | None
    dry_run: bool
    agreed: bool
    as_json: bool


def tell_censuses(queues: Sequence[DeadLetters], wanted: Wanted, limit: int, *, as_json: bool) -> None:
    """Look into each queue and print what is there."""
    with _progress() as progress:
        task = progress.add_task("Looking", total=None)
        found = []
        for queue in queues:
            progress.update(task, description=f"Looking into {queue.name}")
            found.append(queue.look(wanted, _now_ms(), limit=limit))
    if as_json:
        print_json([_plain(census) for census in found])
        return
    rows = [row for census in found for row in _rows(census)]
    if rows:
        headings = ("QUEUE", "TENANT", *(heading.upper() for heading, _ in AGES), "OLDEST")
        print_columns([headings, *rows])
    for census in found:
        _tell_more(census)
    empty = [census.queue for census in found if not census.matching]
    if empty:
        typer.echo(f"Nothing{_meant(wanted)} in: {', '.join(empty)}.")


def run(way: Way, asked: Asked) -> None:
    """Count first, then send back what the operator agreed to.

    Ends with exit code 1 when it was stopped, was not agreed to, or did not find all of what it had counted.
    """
    chosen, unreadable, census = _choose(way, asked)
    result = {
        **_plain(census),
        "to": way.to,
        "unreadable": unreadable,
        "chosen": len(chosen),
        "sent": 0,
        "notFound": 0,
        "stopped": None,
    }
    if not asked.as_json:
        _tell_chosen(way, asked.wanted, census, len(chosen), unreadable)
    agreed = not chosen or asked.dry_run or _is_agreed(way, asked, len(chosen))
    if chosen and agreed and not asked.dry_run:
        result |= _send(way, asked, frozenset(chosen), census.hidden)
    if asked.as_json:
        print_json(result)
    if result["stopped"] or result["notFound"] or not agreed:
        raise typer.Exit(1)


def _choose(way: Way, asked: Asked) -> tuple[list[str], int, Census]:
    chosen: list[str] = []
    unreadable: list[str] = []
    encrypted: list[int] = []

    def each(one: Letter, census: Census) -> None:
        if is_encrypted(one.body):
            encrypted.append(one.sent_at)
        (chosen if way.destination.takes(one) else unreadable).append(one.message_id)
        progress.update(task, description=f"Looked at {census.looked:,}, {len(chosen):,} to send back")

    with _progress() as progress:
        task = progress.add_task("Looking", total=None)
        census = way.queue.look(asked.wanted, _now_ms(), each=each)
    if encrypted:
        since = _moment(min(encrypted) - _TRIED_MS)
        typer.echo(
            f"{len(encrypted):,} are encrypted by the bus, cannot be put back on it, and stay: mend the key's"
            f" policy, then publish the orders of that time again (onceward dispatch replay --since {since}"
            " --republish). The messages expire by themselves.",
            err=True,
        )
    return chosen[: asked.limit], len(unreadable), census


def _is_agreed(way: Way, asked: Asked, count: int) -> bool:
    return confirmed(
        f"Send {count:,} back to {way.to}?",
        agreed=asked.agreed,
        scripted=asked.as_json,
        otherwise="Nothing was sent: --yes sends it.",
    )


def _send(way: Way, asked: Asked, chosen: frozenset[str], hidden: int) -> dict[str, Any]:
    with _progress() as progress:
        task = progress.add_task("Sending", total=len(chosen))

        def tell(sent: int) -> None:
            progress.update(task, completed=sent, description=f"Sent {sent:,} of {len(chosen):,}")

        try:
            done = redrive(way.queue, chosen, way.destination, way.marks, Pace(asked.rate), tell)
        except RedriveStopped as stopped:
            _tell_stopped(way, stopped, len(chosen))
            return {"sent": stopped.sent, "stopped": str(stopped)}
        except KeyboardInterrupt:
            typer.echo("Interrupted: what was not sent is still in the queue; run it again.", err=True)
            raise typer.Exit(_INTERRUPTED) from None
    if not asked.as_json:
        typer.echo(f"Sent {done.sent:,} back to {way.to}.")
    not_found = len(chosen) - done.sent
    if not_found:
        _tell_not_found(way, not_found, hidden)
    _tell_hidden(way.queue.name, done.hidden)
    return {"sent": done.sent, "notFound": not_found, "hidden": done.hidden}


def _tell_stopped(way: Way, stopped: RedriveStopped, count: int) -> None:
    typer.echo(
        f"Stopped after {stopped.sent:,} of {count:,} at {stopped}\n"
        f"It and the {count - stopped.sent - 1:,} others are still in {way.queue.name}. Mend the cause and "
        "run this again: what was sent is gone from the queue, and a message sent twice does no harm.",
        err=True,
    )


def _tell_not_found(way: Way, count: int, hidden: int) -> None:
    why = (
        f"the look hid them, and SQS has not made {hidden:,} visible again; they come back by themselves. "
        "Run this again in five minutes."
        if hidden
        else "somebody else has taken them, or holds them for up to five minutes. Run this again: it counts "
        "anew."
    )
    typer.echo(f"{count:,} were not to be had in {way.queue.name}: {why}", err=True)


def _tell_chosen(way: Way, wanted: Wanted, census: Census, count: int, unreadable: int) -> None:
    meant = f", {census.matching:,}{_meant(wanted)}" if wanted != Wanted() else ""
    messages = "message" if census.looked == 1 else "messages"
    typer.echo(f"{census.looked:,} {messages} in {census.queue}{meant}")
    rows = _rows(census)
    if rows:
        print_columns([("QUEUE", "TENANT", *(heading.upper() for heading, _ in AGES), "OLDEST"), *rows])
    _tell_more(census)
    if unreadable:
        typer.echo(f"{unreadable:,} hold nothing that {way.to} takes and stay where they are.")
    typer.echo(f"To send back to {way.to}: {count:,}")


def _rows(census: Census) -> list[tuple[str, ...]]:
    oldest = _moment(census.oldest)
    return [
        (census.queue, tenant, *(f"{ages[heading]:,}" for heading, _ in AGES), oldest)
        for tenant, ages in sorted(census.ages.items())
    ]


def _tell_more(census: Census) -> None:
    for reason, count in census.reasons.most_common(_REASONS):
        typer.echo(f"{census.queue}: {count:,} times {reason}")
    if census.record_ids and not census.reasons:
        tenant, record_id = next(iter(sorted(census.record_ids.items())))
        typer.echo(f"{census.queue}: why, for one: onceward receipts explain {tenant} --record {record_id}")
    if census.looked < census.approximate:
        typer.echo(
            f"{census.queue}: looked at {census.looked:,} of about {census.approximate:,}; "
            "the others are beyond --limit, or another command holds them for up to five minutes."
        )
    _tell_hidden(census.queue, census.hidden)


def _tell_hidden(queue: str, count: int) -> None:
    if count:
        typer.echo(
            f"{queue}: SQS has not made {count:,} visible again; in five minutes they are so by themselves.",
            err=True,
        )


def _meant(wanted: Wanted) -> str:
    parts = [
        *([f"of tenant {wanted.tenant_id}"] if wanted.tenant_id else []),
        *([f"from {_moment(wanted.since)} on"] if wanted.since else []),
        *([f"before {_moment(wanted.before)}"] if wanted.before else []),
    ]
    return f" {' '.join(parts)}" if parts else ""


def _plain(census: Census) -> dict[str, Any]:
    return {
        "queue": census.queue,
        "approximate": census.approximate,
        "looked": census.looked,
        "matching": census.matching,
        "oldest": None if census.oldest is None else _moment(census.oldest),
        "tenants": census.tenants,
        "ages": {heading: sum(ages[heading] for ages in census.ages.values()) for heading, _ in AGES},
        "reasons": dict(census.reasons.most_common()),
        "hidden": census.hidden,
    }


def _moment(ms: int | None) -> str:
    return "-" if ms is None else f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _progress() -> Progress:
    # On stderr, so that what is piped on is the result; gone at the end, and silent where nobody watches.
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
