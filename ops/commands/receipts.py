"""`onceward receipts`: what became of a key, and setting it free."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infra.naming import Names
from ops import evicting, looking_up
from ops.dead_letters import SOURCES, DeadLetters
from ops.log_search import Logs
from ops.receipts import described
from ops.stages import HomeOption, StageOption, clients, telling
from ops.telling_receipts import print_receipt, print_timeline, watching
from ops.timeline import Sources, explain, subject_in, subject_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.receipt import Receipt
    from ops.looking_up import Place
    from ops.timeline import Subject

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

onceward receipts explain acme --record 01M8PJC8QMVCQRJJ8WMR39J1QC
"""


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
    wanted = looking_up.key_of(key, derived)
    with telling():
        where = looking_up.place(stage, home, tenant, as_json=as_json)
        found = looking_up.receipt(where, wanted)
        print_receipt(described(found, _now_ms(), response=response), as_json=as_json)


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
    wanted = looking_up.key_of(key, derived)
    with telling():
        where = looking_up.place(stage, home, tenant, as_json=as_json)
        found = looking_up.receipt(where, wanted)
        evicting.run(where.store, found, force=force, agreed=yes, as_json=as_json)


@app.command("explain", epilog=_EXPLAIN_EPILOG)
def explain_(
    tenant: Tenant,
    key: Key = None,
    derived: Derived = None,
    record: Annotated[
        str | None, typer.Option(help="A record's id, where its key is not known: from a dead letter, say.")
    ] = None,
    stage: StageOption = "local",
    home: HomeOption = None,
    as_json: AsJson = False,
) -> None:
    """Tell what became of a key in one timeline: from acceptance to delivery, and every duplicate seen.

    From the receipt, its record, the functions' logs (as far back as they are kept) and the dead-letter
    queues, whose messages are looked at and stay. Exit code 1 when there is no receipt (or no such record).
    """
    if record is not None and (key, derived) != (None, None):
        raise typer.BadParameter("goes with neither a key nor --derived", param_hint="--record")
    wanted = looking_up.key_of(key, derived) if record is None else ""
    with telling():
        where = looking_up.place(stage, home, tenant, as_json=as_json)
        sources = _of_receipt(where, wanted) if record is None else _of_record(where, record)
        with watching() as tell:
            timeline = explain(sources, _now_ms(), tell)
    receipt = None if sources.receipt is None else described(sources.receipt, _now_ms(), response=False)
    print_timeline(receipt, sources.subject, timeline, as_json=as_json)


def _of_record(where: Place, record_id: str) -> Sources:
    item = looking_up.record(where, record_id)
    return _sources(where, subject_in(item), None, item)


def _of_receipt(where: Place, key: str) -> Sources:
    receipt = looking_up.receipt(where, key)
    subject = subject_of(receipt)
    return _sources(where, subject, receipt, where.store.record(where.tenant_id, subject.ids.record_id))


def _sources(
    where: Place, subject: Subject, receipt: Receipt | None, record: Mapping[str, Any] | None
) -> Sources:
    client, names = clients(where.target), Names(where.target.stage)
    sqs = client("sqs")
    queues = [DeadLetters(sqs, names, name) for name in SOURCES]
    return Sources(subject, receipt, record, names, Logs(client("logs"), names), queues)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
