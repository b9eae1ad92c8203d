"""`onceward dispatch`: deliver again what was accepted and never came out."""

from __future__ import annotations

import re
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn

from handlers.adapters.parking import RetryQueue
from infra.naming import Names
from ops.output import print_columns, print_json
from ops.replay import Found, Replay, parse_since
from ops.stages import HomeOption, StageOption, clients, reach, telling
from tenants.models import TENANT_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadtest.target import Target
    from ops.replay import Missing

app = typer.Typer(help="From the receipt outward: deliver again what got lost.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Make `replay` a sub-command: typer would otherwise fold the only one into the group."""


@app.command(epilog="Example: onceward dispatch replay --since 2h --stage dev --dry-run")
def replay(
    since: Annotated[str, typer.Option(help="2h (s, m, h, d), or an ISO 8601 time (UTC without a zone).")],
    stage: StageOption = "local",
    tenant: Annotated[str | None, typer.Option(help="Only this tenant's.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count only; queue nothing.")] = False,
    home: HomeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Deliver every receipt since then whose record is missing: after a lost stream, or a restore.

    Counts first, then puts the receipts on the retry queue, from where `dispatch` takes them under its own
    role. Safe to run twice, and beside live traffic: a record is written once, and an event that is
    published again has the same id.
    """
    try:
        moment = parse_since(since, datetime.now(UTC))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--since") from error
    if tenant is not None and not re.fullmatch(TENANT_ID, tenant):
        raise typer.BadParameter(f"{tenant!r} must match {TENANT_ID}", param_hint="--tenant")
    with telling(), _progress() as progress:
        work = _work(reach(stage, home))
        found = _look(work, moment, tenant, progress)
        if not as_json:
            _print_counts(found, moment)
        queued = 0 if dry_run else _queue(work, found.missing, progress)
    if as_json:
        print_json(
            {
                "since": moment.isoformat(),
                "receipts": found.receipts,
                "corrupt": found.corrupt,
                "missing": len(found.missing),
                "queued": queued,
                "tenants": _by_tenant(found.missing),
            }
        )
    elif not dry_run and found.missing:
        typer.echo(f"Queued {queued}. With --dry-run, see what is left once `dispatch` has had its turn.")


def _work(target: Target) -> Replay:
    client = clients(target)
    sqs = client("sqs")
    url = sqs.get_queue_url(QueueName=Names(target.stage).platform("dispatch-retry"))["QueueUrl"]
    return Replay(client("dynamodb"), target.receipts_table, target.records_table, RetryQueue(url, sqs))


def _look(work: Replay, moment: datetime, tenant: str | None, progress: Progress) -> Found:
    task = progress.add_task("Looking", total=None)

    def tell(found: Found) -> None:
        text = f"Looked at {found.receipts:,} receipts, {len(found.missing):,} without a record"
        progress.update(task, description=text)

    found = work.look(moment, tenant, tell)
    progress.remove_task(task)
    return found


def _queue(work: Replay, missing: Sequence[Missing], progress: Progress) -> int:
    task = progress.add_task("Queueing", total=len(missing))
    queued = 0
    for done, one in enumerate(missing, start=1):
        queued += work.queue(one, time.time_ns() // 1_000_000)
        progress.update(task, completed=done, description=f"Queued {queued:,} of {len(missing):,}")
    return queued


def _print_counts(found: Found, moment: datetime) -> None:
    when = f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    typer.echo(f"{found.receipts:,} receipts since {when}, {len(found.missing):,} without a record")
    if found.corrupt:
        typer.echo(
            f"{found.corrupt:,} of them name no record and cannot be delivered: see the dead-letter queue"
        )
    if found.missing:
        rows = [(tenant, f"{count:,}") for tenant, count in _by_tenant(found.missing).items()]
        print_columns([("TENANT", "MISSING"), *rows])


def _by_tenant(missing: Sequence[Missing]) -> dict[str, int]:
    return dict(sorted(Counter(one.tenant_id for one in missing).items()))


def _progress() -> Progress:
    # On stderr, so that what is piped on is the result; gone at the end, and silent where nobody watches.
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
