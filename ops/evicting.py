"""The work of `onceward receipts evict`: show, refuse what may be running, say what follows, ask, delete."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from handlers.domain.receipt import Status
from ops.asking import confirmed
from ops.output import print_json
from ops.receipts import Eviction, described, may_be_running
from ops.telling_receipts import print_receipt

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt
    from ops.receipts import Receipts

_SAID = {
    Eviction.EVICTED: "Evicted: the key is free.",
    Eviction.GONE: "It is gone: the key is free.",
    Eviction.CHANGED: "Not evicted: it has changed since it was shown. Look again.",
}


def run(store: Receipts, receipt: Receipt, *, force: bool, agreed: bool, as_json: bool) -> None:
    """Evict `receipt`. Ends with exit code 1 where it is not done."""
    now_ms = time.time_ns() // 1_000_000
    if not as_json:
        print_receipt(described(receipt, now_ms, response=False), as_json=False)
    if may_be_running(receipt, now_ms) and not force:
        _refuse(as_json=as_json)
    if not as_json:
        typer.echo("\n".join(["", *_consequences(store, receipt)]))
    otherwise = "Not evicted: --yes does it without asking."
    if not confirmed("Evict it?", agreed=agreed, scripted=as_json, otherwise=otherwise):
        raise typer.Exit(1)
    outcome = store.evict(receipt)
    if as_json:
        print_json({"outcome": outcome.value})
    else:
        typer.echo(_SAID[outcome], err=outcome is Eviction.CHANGED)
    if outcome is Eviction.CHANGED:
        raise typer.Exit(1)


def _refuse(*, as_json: bool) -> None:
    if as_json:
        print_json({"outcome": "running"})
    typer.echo(
        "Not evicted: its owner may still be running, and the next request would do the same beside it. "
        "Wait for the end of the lease; --force does not wait.",
        err=True,
    )
    raise typer.Exit(1)


def _consequences(store: Receipts, receipt: Receipt) -> list[str]:
    lines = [
        "If you evict it, the key is free: the next request with it takes effect, whatever came of this one."
    ]
    if receipt.status is Status.IN_PROGRESS:
        lines.append(
            "It is unfinished and may have acted. A retry of the same request would resume it, under the "
            "same downstream key; once evicted, it acts anew under another (a second charge)."
        )
    elif receipt.outbox is not None and store.record(receipt.tenant_id, receipt.outbox.record_id) is None:
        lines.append(
            "Its record is not written yet. The stream brings it all the same, but `onceward dispatch "
            "replay` finds only what has a receipt: if dispatch is in trouble, wait."
        )
    return lines
