"""`onceward receipts`: what became of a key, and setting it free."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from handlers.domain import keys
from handlers.domain.errors import InvalidKey
from infra.naming import Names
from ops import evicting, telling_receipts
from ops.dead_letters import SOURCES, DeadLetters
from ops.log_search import Logs
from ops.output import print_json
from ops.receipts import Receipts, described, ids_of
from ops.stages import HomeOption, StageOption, clients, reach, telling
from ops.timeline import Sources, explain
from tenants.models import TENANT_ID

if TYPE_CHECKING:
    from pathlib import Path

    from handlers.domain.receipt import Receipt
    from loadtest.target import Target

app = typer.Typer(
    help="Receipts: what became of an idempotency key, and setting one free.", no_args_is_help=True
)

Tenant = Annotated[str, typer.Argument(help="The tenant's id.")]
Key = Annotated[str | None, typer.Argument(help="The key, as it was sent; none with --derived.")]
Derived = Annotated[
    tuple[str, str, str] | None,
    typer.Option(
        "--derived",
        metavar="OPERATION SOURCE ID",
        help="A key that the platform made: webhooks, a source and the event's id; leads, `body` and a "
        "hash; appointments, `fields` and a hash.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_SHOW_EPILOG = """Examples:

onceward receipts show acme signup-7

onceward receipts show acme --derived webhooks stripe evt_1 --stage prod --json
"""
_EVICT_EPILOG = """Examples:

onceward receipts evict acme signup-7

onceward receipts evict acme charge-9 --stage prod --force --yes
"""
_EXPLAIN_EPILOG = """Examples:

onceward receipts explain acme signup-7

onceward receipts explain acme --derived webhooks stripe evt_1 --stage prod --json
"""


@dataclass(frozen=True)
class _Found:
    target: Target
    store: Receipts
    receipt: Receipt


@app.command(epilog=_SHOW_EPILOG)
def show(
    tenant: Tenant,
    key: Key = None,
    derived: Derived = None,
    stage: StageOption = "local",
    response: Annotated[
        bool, typer.Option("--response", help="The first answer's headers and body too: they hold data.")
    ] = False,
    home: HomeOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the receipt of a key: status, owner, lease, window and ids, never the payload.

    Exit code 1 when there is none: the key is free.
    """
    with telling():
        found = _find(stage, home, tenant, _key(key, derived), as_json=as_json)
        telling_receipts.print_receipt(
            described(found.receipt, _now_ms(), response=response), as_json=as_json
        )


@app.command(epilog=_EVICT_EPILOG)
def evict(
    tenant: Tenant,
    key: Key = None,
    derived: Derived = None,
    stage: StageOption = "local",
    force: Annotated[
        bool, typer.Option("--force", help="Also while its owner may still be running.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    home: HomeOption = None,
    as_json: AsJson = False,
) -> None:
    """Delete the receipt of a key: the key is free, and the same request takes effect AGAIN.

    Shows the receipt and asks first. Deletes only what was shown: exit code 1, and nothing is deleted, when
    it changed meanwhile, or while its owner may still be running (--force does it all the same). A record
    that was written, a charge that was made, a slot that was taken stay as they are.
    """
    with telling():
        found = _find(stage, home, tenant, _key(key, derived), as_json=as_json)
        evicting.run(found.store, found.receipt, force=force, agreed=yes, as_json=as_json)


@app.command("explain", epilog=_EXPLAIN_EPILOG)
def explain_(
    tenant: Tenant,
    key: Key = None,
    derived: Derived = None,
    stage: StageOption = "local",
    home: HomeOption = None,
    as_json: AsJson = False,
) -> None:
    """Tell what became of a key in one timeline: from acceptance to delivery, and every duplicate seen.

    From the receipt, its record, the functions' logs (as far back as they are kept) and the dead-letter
    queues, whose messages are looked at and stay. Exit code 1 when there is no receipt.
    """
    with telling():
        found = _find(stage, home, tenant, _key(key, derived), as_json=as_json)
        client, names = clients(found.target), Names(stage)
        sqs = client("sqs")
        sources = Sources(
            receipt=found.receipt,
            record=found.store.record(tenant, ids_of(found.receipt).record_id),
            logs=Logs(client("logs"), names),
            queues=[DeadLetters(sqs, names, name) for name in SOURCES],
        )
        with telling_receipts.watching() as tell:
            timeline = explain(sources, _now_ms(), tell)
    telling_receipts.print_timeline(
        described(found.receipt, _now_ms(), response=False), timeline, as_json=as_json
    )


def _key(key: str | None, derived: tuple[str, str, str] | None) -> str:
    if (key is None) == (derived is None):
        raise typer.BadParameter("give a key, or --derived OPERATION SOURCE ID", param_hint="KEY")
    if derived is not None:
        return keys.derived(*derived)
    try:
        return keys.parse(key or "")
    except InvalidKey as error:
        raise typer.BadParameter(
            f"{error}; for a key that the platform made: --derived", param_hint="KEY"
        ) from error


def _find(stage: str, home: Path | None, tenant: str, key: str, *, as_json: bool) -> _Found:
    if not re.fullmatch(TENANT_ID, tenant):
        raise typer.BadParameter(f"{tenant!r} must match {TENANT_ID}", param_hint="TENANT")
    target = reach(stage, home)
    store = Receipts(clients(target)("dynamodb"), target.receipts_table, target.records_table)
    receipt = store.find(tenant, key)
    if receipt is not None:
        return _Found(target, store, receipt)
    if as_json:
        print_json(None)
    # A tenant whose file is gone has receipts all the same: no usage error.
    there = "" if tenant in target.tenant_ids else f", and stage {stage} has no tenant of this name"
    typer.echo(
        f"Tenant {tenant} has no receipt under this key{there}: it was never used, or its receipt was swept "
        "(after eight days and its window) or evicted. Keys are compared character for character.",
        err=True,
    )
    raise typer.Exit(1)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
