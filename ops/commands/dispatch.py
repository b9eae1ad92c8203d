"""`onceward dispatch`: deliver again what was accepted and never came out."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from handlers.adapters.parking import RetryQueue
from infra.naming import Location, Names
from ops import redelivery
from ops.failures import Failures
from ops.replay import Replay, Window, parse_since
from ops.stages import HomeOption, StageOption, clients, reach, require_tenant, telling
from tenants.models import TENANT_ID

if TYPE_CHECKING:
    from loadtest.target import Target

app = typer.Typer(help="From the receipt outward: deliver again what got lost.", no_args_is_help=True)

_MOMENT = "2h (s, m, h, d), or an ISO 8601 time (UTC without a zone)"


@app.callback()
def _group() -> None:
    """Make `replay` a sub-command: typer would otherwise fold the only one into the group."""


@app.command(epilog="Example: onceward dispatch replay --since 2h --stage dev --dry-run")
def replay(
    since: Annotated[str | None, typer.Option(help=f"From then on: {_MOMENT}.")] = None,
    until: Annotated[str | None, typer.Option(help=f"Before then: {_MOMENT}.")] = None,
    stage: StageOption = "local",
    tenant: Annotated[str | None, typer.Option(help="Only this tenant's.")] = None,
    republish: Annotated[
        bool, typer.Option("--republish", help="Also receipts that have a record: their events may be lost.")
    ] = False,
    from_failures: Annotated[
        bool, typer.Option("--from-failures", help="What the stream gave up, from the failure bucket.")
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="With --from-failures: remove what was queued from the bucket.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count only; queue nothing.")] = False,
    home: HomeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Deliver every receipt since then whose record is missing: after a lost stream, or a restore.

    Counts first, then puts the receipts on the retry queue, from where `dispatch` takes them under its own
    role. Safe to run twice, and beside live traffic: a record is written once, and an event that is
    published again has the same id.

    A record that is there says nothing of its event: --republish drives those receipts too, so that
    subscribers may get events twice, with the same id. The event of an order that is completed is sent again;
    an order that is not (given up, say) is tried again, and its event follows.

    --from-failures needs no --since (it counts from when an object was written), and finds what the receipts
    no longer hold: what a later use of a key has overwritten.
    """
    window = _window(since, until, tenant)
    _require_sense(window, republish=republish, from_failures=from_failures, delete=delete, dry_run=dry_run)
    with telling():
        target = reach(stage, home)
        if tenant is not None:
            require_tenant(target, tenant)
        if from_failures:
            redelivery.from_failures(
                _failures(target), _queue(target), window, delete=delete, dry_run=dry_run, as_json=as_json
            )
        else:
            redelivery.from_receipts(
                _work(target), window, republish=republish, dry_run=dry_run, as_json=as_json
            )


def _window(since: str | None, until: str | None, tenant: str | None) -> Window:
    if tenant is not None and not re.fullmatch(TENANT_ID, tenant):
        raise typer.BadParameter(f"{tenant!r} must match {TENANT_ID}", param_hint="--tenant")
    now = datetime.now(UTC)
    window = Window(_moment("--since", since, now), _moment("--until", until, now), tenant)
    if window.since is not None and window.until is not None and window.since >= window.until:
        raise typer.BadParameter("must be later than --since", param_hint="--until")
    return window


def _moment(option: str, text: str | None, now: datetime) -> datetime | None:
    try:
        return None if text is None else parse_since(text, now)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def _require_sense(
    window: Window, *, republish: bool, from_failures: bool, delete: bool, dry_run: bool
) -> None:
    if window.since is None and not from_failures:
        raise typer.BadParameter(
            "say from when on, such as 2h (only --from-failures goes without)", param_hint="--since"
        )
    if republish and from_failures:
        raise typer.BadParameter("drives receipts; leave out --from-failures", param_hint="--republish")
    if delete and not from_failures:
        raise typer.BadParameter("goes with --from-failures only", param_hint="--delete")
    if delete and (window.tenant_id is not None or dry_run):
        # An object holds a batch of all tenants: what was not queued must not be removed.
        raise typer.BadParameter("goes with neither --tenant nor --dry-run", param_hint="--delete")


def _queue(target: Target) -> RetryQueue:
    sqs = clients(target)("sqs")
    url = sqs.get_queue_url(QueueName=Names(target.stage).platform("dispatch-retry"))["QueueUrl"]
    return RetryQueue(url, sqs)


def _work(target: Target) -> Replay:
    return Replay(clients(target)("dynamodb"), target.receipts_table, target.records_table, _queue(target))


def _failures(target: Target) -> Failures:
    client = clients(target)
    account = client("sts").get_caller_identity()["Account"]
    location = Location("aws", account, target.region)  # the partition is no part of the name
    return Failures(client("s3"), Names(target.stage).failure_bucket(location))
