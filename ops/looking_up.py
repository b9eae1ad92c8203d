"""Finding the receipt or the record that a command is about; where there is none, the command ends."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from handlers.domain import ids, keys
from handlers.domain.errors import InvalidKey
from ops.output import print_json
from ops.receipts import Receipts, is_young
from ops.stages import clients, reach
from tenants.models import TENANT_ID

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from handlers.domain.receipt import Receipt
    from loadtest.target import Target


@dataclass(frozen=True)
class Place:
    """Where a command looks, and for whom."""

    target: Target
    store: Receipts
    tenant_id: str
    as_json: bool


def place(stage: str, home: Path | None, tenant: str, *, as_json: bool) -> Place:
    """The tables of a stage; exit code 2 for a tenant that can be none, or a stage out of reach."""
    if not re.fullmatch(TENANT_ID, tenant):
        raise typer.BadParameter(f"{tenant!r} must match {TENANT_ID}", param_hint="TENANT")
    target = reach(stage, home)
    store = Receipts(clients(target)("dynamodb"), target.receipts_table, target.records_table)
    return Place(target, store, tenant, as_json)


def key_of(key: str | None, derived: tuple[str, str, str] | None) -> str:
    """The key that the arguments name; exit code 2 unless they name exactly one."""
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


def receipt(where: Place, key: str) -> Receipt:
    """The receipt of a key; exit code 1 when there is none."""
    found = where.store.find(where.tenant_id, key)
    if found is None:
        raise _nothing(
            where,
            "receipt under this key",
            "it was never used, or its receipt was swept (after eight days and its window) or evicted. "
            "Keys are compared character for character.",
        )
    return found


def record(where: Place, record_id: str) -> Mapping[str, Any]:
    """The record with this id (the item without its document); exit code 1 when there is none."""
    found = where.store.record(where.tenant_id, record_id)
    if found is None:
        created_at = ids.created_at_ms(record_id)
        young = created_at is not None and is_young(created_at, time.time_ns() // 1_000_000)
        why = (
            "the id is seconds old, and dispatch writes it within ten: look again."
            if young
            else "dispatch has not written it, or it is another tenant's."
        )
        raise _nothing(where, "record of this id", why)
    return found


def _nothing(where: Place, what: str, why: str) -> typer.Exit:
    if where.as_json:
        print_json(None)
    # A tenant whose file is gone has receipts and records all the same: no usage error.
    target = where.target
    known = where.tenant_id in target.tenant_ids
    there = "" if known else f", and stage {target.stage} has no tenant of this name"
    typer.echo(f"Tenant {where.tenant_id} has no {what}{there}: {why}", err=True)
    return typer.Exit(1)
