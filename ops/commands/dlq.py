"""`onceward dlq`: what was given up, and sending it back."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from infra.naming import Names
from ops import redriving
from ops.dead_letters import DELIVERY, SOURCES, DeadLetters, Wanted
from ops.redrive import BusDestination, Marks, QueueDestination
from ops.replay import parse_since
from ops.stages import HomeOption, StageOption, clients, reach, telling
from tenants.models import TENANT_ID

if TYPE_CHECKING:
    from loadtest.target import Target

app = typer.Typer(help="Dead-letter queues: see what was given up, and send it back.", no_args_is_help=True)

_NAMES = ", ".join(SOURCES)
_AGE = "2h (s, m, h, d) ago, or an ISO 8601 time (UTC without a zone)"
_LOOKED_AT = 1_000

TenantOption = Annotated[str | None, typer.Option(help="Only this tenant's.")]
OlderThan = Annotated[str | None, typer.Option("--older-than", help=f"Only what was sent before: {_AGE}.")]
NewerThan = Annotated[str | None, typer.Option("--newer-than", help=f"Only what was sent since: {_AGE}.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_LIST_EPILOG = """Examples:

onceward dlq list

onceward dlq list --stage prod --queue orders-dlq --tenant acme --older-than 1d --json
"""

_REDRIVE_EPILOG = """Examples:

onceward dlq redrive orders-dlq --tenant acme --limit 1 --yes

onceward dlq redrive webhooks-dlq --stage prod --newer-than 6h --rate 5
"""


@app.command("list", epilog=_LIST_EPILOG)
def list_(
    stage: StageOption = "local",
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", help=f"Only this one; repeat for more: {_NAMES}.", show_default="all"),
    ] = None,
    tenant: TenantOption = None,
    older_than: OlderThan = None,
    newer_than: NewerThan = None,
    limit: Annotated[int, typer.Option(min=1, help="Messages to look at, for each queue.")] = _LOOKED_AT,
    home: HomeOption = None,
    as_json: AsJson = False,
) -> None:
    """Count what is in the dead-letter queues: by tenant and age, with the reason where a message says it.

    Looks at messages without taking any: they are hidden while it looks, and visible again when it ends
    (five minutes later, should it be killed). Meanwhile the alarm on the queue's depth may clear.
    """
    for name in queue or []:
        _require_queue(name, "--queue")
    wanted = _wanted(tenant, older_than, newer_than)
    with telling():
        target = reach(stage, home)
        _note_unknown(target, tenant)
        sqs = clients(target)("sqs")
        queues = [DeadLetters(sqs, Names(stage), name) for name in queue or SOURCES]
        redriving.tell_censuses(queues, wanted, limit, as_json=as_json)


@app.command("redrive", epilog=_REDRIVE_EPILOG)
def redrive(
    queue: Annotated[str, typer.Argument(help=f"One of {', '.join(n for n in SOURCES if n != DELIVERY)}.")],
    stage: StageOption = "local",
    tenant: TenantOption = None,
    older_than: OlderThan = None,
    newer_than: NewerThan = None,
    rate: Annotated[float, typer.Option(min=0.1, help="Messages a second, at most.")] = 10.0,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Send at most so many: 1 to try it.", show_default="all")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Send without asking.")] = False,
    home: HomeOption = None,
    as_json: AsJson = False,
) -> None:
    """Send dead letters back to where they came from: counts first, then asks (without a terminal: --yes).

    Each is sent first and deleted then. Stops at the first error (exit code 1) and says how far it came; run
    the same command again to go on. Safe to run twice, and beside live traffic: a message may be sent twice,
    is never lost, and its unit of work takes effect once. Exactly what was counted is sent: what fails again
    meanwhile waits for the next run. Exit code 1 too when nothing was sent because nobody agreed, and
    when some of it was not to be had any more: held by another command, or still hidden by the look; it says
    so. Mend the cause first.
    """
    _require_queue(queue, "QUEUE")
    if queue == DELIVERY:
        raise typer.BadParameter(
            "these are events that did not reach one subscriber of a topic, and SNS cannot send to one alone."
            " When the subscriber is mended, publish them again, to all subscribers and with the same ids: "
            "onceward dispatch replay --since T --tenant TENANT --republish, with a T two days before the"
            " OLDEST that `onceward dlq list` shows, since it goes by when a receipt was accepted",
            param_hint="QUEUE",
        )
    wanted = _wanted(tenant, older_than, newer_than)
    asked = redriving.Asked(wanted, rate, limit, dry_run, yes, as_json)
    with telling():
        target = reach(stage, home)
        _note_unknown(target, tenant)
        redriving.run(_way(target, queue), asked)


def _way(target: Target, queue: str) -> redriving.Way:
    client, names = clients(target), Names(target.stage)
    sqs = client("sqs")
    letters = DeadLetters(sqs, names, queue)
    marks = Marks(client("dynamodb"), target.records_table)
    source = SOURCES[queue]
    if source is None:
        bus = names.platform("orders")
        return redriving.Way(letters, f"event bus {bus}", BusDestination(client("events"), bus), marks)
    url = sqs.get_queue_url(QueueName=names.platform(source))["QueueUrl"]
    return redriving.Way(letters, source, QueueDestination(sqs, url), marks)


def _note_unknown(target: Target, tenant: str | None) -> None:
    # No error: the work of a tenant whose file is gone waits here all the same. But it may be a slip.
    if tenant is not None and tenant not in target.tenant_ids:
        there = ", ".join(sorted(target.tenant_ids)) or "none"
        typer.echo(f"Note: stage {target.stage} has no tenant {tenant!r} now; there are: {there}", err=True)


def _require_queue(name: str, hint: str) -> None:
    if name not in SOURCES:
        raise typer.BadParameter(f"{name!r} is none of {_NAMES}", param_hint=hint)


def _wanted(tenant: str | None, older_than: str | None, newer_than: str | None) -> Wanted:
    if tenant is not None and not re.fullmatch(TENANT_ID, tenant):
        raise typer.BadParameter(f"{tenant!r} must match {TENANT_ID}", param_hint="--tenant")
    now = datetime.now(UTC)
    wanted = Wanted(tenant, _ms("--older-than", older_than, now), _ms("--newer-than", newer_than, now))
    if wanted.before is not None and wanted.since is not None and wanted.since >= wanted.before:
        raise typer.BadParameter("must be a longer time ago than --older-than", param_hint="--newer-than")
    return wanted


def _ms(option: str, text: str | None, now: datetime) -> int | None:
    try:
        return None if text is None else int(parse_since(text, now).timestamp() * 1000)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error
