"""`onceward slots`: who has a doctor's time, and setting it free."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated

import typer

from infra.naming import Names
from ops.asking import confirmed
from ops.output import flat, print_columns, print_json, shown
from ops.slots import Freeing, Slots
from ops.stages import HomeOption, StageOption, clients, reach, telling
from tenants.models import TENANT_ID

if TYPE_CHECKING:
    from pathlib import Path

    from ops.slots import Slot

app = typer.Typer(
    help="Slots: who has a doctor's time, and freeing one whose booking was never completed.",
    no_args_is_help=True,
)

Tenant = Annotated[str, typer.Argument(help="The tenant's id.")]
Doctor = Annotated[str, typer.Argument(help="The `doctorId`, as it was sent.")]
StartsAt = Annotated[str, typer.Argument(help="`startsAt` with its offset, in any spelling (RFC 3339).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_SHOW_EPILOG = """Example:

onceward slots show acme dr-grey 2031-01-01T10:00:00+01:00
"""
_FREE_EPILOG = """Examples:

onceward slots free acme dr-grey 2031-01-01T10:00:00+01:00

onceward slots free acme dr-grey 2031-01-01T09:00:00Z --stage prod --yes
"""
_SAID = {
    Freeing.FREED: "Freed: the next request for it gets it.",
    Freeing.GONE: "It is free already.",
    Freeing.CHANGED: "Not freed: another booking has it by now. Look again.",
}
_FOLLOWS = (
    "Freed, the next request for it gets it. A retry of the very request that left it (same key, same body) "
    "resumes its booking if the slot is still free, and is told that it is taken if it is not."
)


@app.command(epilog=_SHOW_EPILOG)
def show(
    tenant: Tenant,
    doctor: Doctor,
    starts_at: StartsAt,
    stage: StageOption = "local",
    home: HomeOption = None,
    as_json: AsJson = False,
) -> None:
    """Show who has a slot: its booking's record, and whether that record exists.

    Exit code 1 when nobody has it.
    """
    with telling():
        _print(
            _found(_slots(stage, home, tenant), tenant, doctor, starts_at, as_json=as_json), as_json=as_json
        )


@app.command(epilog=_FREE_EPILOG)
def free(
    tenant: Tenant,
    doctor: Doctor,
    starts_at: StartsAt,
    stage: StageOption = "local",
    force: Annotated[
        bool, typer.Option("--force", help="Also when its appointment exists, or may be under way.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    home: HomeOption = None,
    as_json: AsJson = False,
) -> None:
    """Free a slot that a booking holds which was never completed.

    Shows the booking and asks first. Frees only what was shown: exit code 1, and nothing is freed, when
    another has it by then, when its appointment exists, or when it is less than a minute old (--force frees
    it all the same; the appointment's record stays as it is).
    """
    with telling():
        slots = _slots(stage, home, tenant)
        slot = _found(slots, tenant, doctor, starts_at, as_json=as_json)
        if not as_json:
            _print(slot, as_json=False)
        why = None if force else _why_not(slot)
        if why is not None:
            _refuse(why, as_json=as_json)
        if not as_json:
            typer.echo(f"\n{_FOLLOWS}")
        otherwise = "Not freed: --yes does it without asking."
        if not confirmed("Free it?", agreed=yes, scripted=as_json, otherwise=otherwise):
            raise typer.Exit(1)
        _tell(slots.free(slot), as_json=as_json)


def _slots(stage: str, home: Path | None, tenant: str) -> Slots:
    if not re.fullmatch(TENANT_ID, tenant):
        raise typer.BadParameter(f"{tenant!r} must match {TENANT_ID}", param_hint="TENANT")
    target = reach(stage, home)
    # The outputs do not name this table; its name follows from the stage's.
    return Slots(clients(target)("dynamodb"), Names(target.stage).platform("slots"), target.records_table)


def _found(slots: Slots, tenant: str, doctor: str, starts_at: str, *, as_json: bool) -> Slot:
    try:
        slot = slots.find(tenant, doctor, starts_at)
    except (ValueError, OverflowError) as error:
        detail = "must be a time with its offset from UTC (RFC 3339), such as 2026-12-01T09:30:00+01:00"
        raise typer.BadParameter(detail, param_hint="STARTS-AT") from error
    if slot is None:
        if as_json:
            print_json(None)
        typer.echo(f"Nobody has this slot of tenant {tenant}: it is free.", err=True)
        raise typer.Exit(1)
    return slot


def _why_not(slot: Slot) -> str | None:
    if slot.recorded:
        return "its appointment exists: freed, somebody else could book the same time"
    if slot.is_young(time.time_ns() // 1_000_000):
        return "its booking is less than a minute old and may be under way: look again then"
    return None


def _refuse(why: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"outcome": "refused", "reason": why})
    typer.echo(f"Not freed: {why}. --force does it all the same.", err=True)
    raise typer.Exit(1)


def _print(slot: Slot, *, as_json: bool) -> None:
    if as_json:
        print_json(slot.described())
    else:
        # The slot's own name is a JSON list of its doctor and time, which are shown by themselves.
        told = {name: value for name, value in slot.described().items() if name != "slot"}
        print_columns([(name, shown(value)) for name, value in flat(told)])


def _tell(outcome: Freeing, *, as_json: bool) -> None:
    if as_json:
        print_json({"outcome": outcome.value})
    else:
        typer.echo(_SAID[outcome], err=outcome is Freeing.CHANGED)
    if outcome is Freeing.CHANGED:
        raise typer.Exit(1)
