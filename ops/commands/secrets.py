"""`onceward secrets`: what tenants and those outside prove themselves with. No command shows a value."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from loadtest.target import LOCAL_OUTPUTS, LOCAL_STAGE
from ops.asking import confirmed
from ops.local.outputs import write_secret
from ops.output import print_columns, print_json
from ops.stages import HOME, HomeOption, StageOption, clients, reach, telling
from ops.tenant_files import DirectoryOption, tenant_of
from ops.tenant_secrets import WEBHOOKS, SecretError, TenantSecrets, check, generated, names_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ops.tenant_secrets import Listed
    from tenants.models import Tenant

app = typer.Typer(
    help="Secrets of webhook senders and destinations, in the stage's parameter store.", no_args_is_help=True
)

_LOCAL: Final = LOCAL_STAGE

TenantArgument = Annotated[str, typer.Argument(metavar="TENANT", help="A tenant's id.")]
NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="webhooks/<source>, destinations/webhooks/<source>, destinations/orders or payments/provider.",
    ),
]
Generate = Annotated[
    bool,
    typer.Option("--generate", help="Make a random one, and print it once for the other side to be told."),
]

Force = Annotated[
    bool,
    typer.Option("--force", help="Although one is valid (two, with --add): it ends at once (the older one)."),
]
# More would be one more secret to leak, and nobody would know which sender still uses which.
_VALID_AT_ONCE: Final = 2


@app.command("set", epilog="Example: onceward secrets set acme webhooks/stripe --stage dev < secret.txt")
def set_(
    tenant_id: TenantArgument,
    name: NameArgument,
    add: Annotated[bool, typer.Option("--add", help="Keep the former one valid beside it.")] = False,
    generate: Generate = False,
    stage: StageOption = _LOCAL,
    home: HomeOption = None,
    directory: DirectoryOption = None,
    force: Force = False,
) -> None:
    """Put a secret, read from a hidden prompt or from standard input; functions know it within a minute.

    Over one that is there only with --force: `rotate` changes it without refusing anybody meanwhile.
    """
    tenant = _checked(tenant_id, name, stage, directory)
    store = _store(stage, home)
    with telling():
        known = store.read(tenant_id, name)
    if known and not (add or force):
        raise typer.BadParameter(
            "it has a value, which the other side may use and which would end at once. To change it with "
            f"both valid meanwhile: onceward secrets rotate {tenant_id} {name}; --force replaces it now",
            param_hint="NAME",
        )
    if add and len(known) >= _VALID_AT_ONCE and not force:
        raise typer.BadParameter(
            f"{len(known)} are valid already, and the older one, which the other side may still use, would "
            "end. When it has changed over: onceward secrets rotate --finish; --force does it all the same",
            param_hint="NAME",
        )
    secret = generated(tenant, name) if generate else _read(tenant, name)
    with telling():
        former = known[:1] if add else ()
        _put(store, stage, home, (tenant_id, name), [secret, *(one for one in former if one != secret)])
    if generate:
        typer.echo(secret)


@app.command(epilog="Example: onceward secrets rotate acme webhooks/stripe --stage dev")
def rotate(
    tenant_id: TenantArgument,
    name: NameArgument,
    finish: Annotated[
        bool, typer.Option("--finish", help="The other side has changed over: only the newest stays valid.")
    ] = False,
    generate: Generate = False,
    stage: StageOption = _LOCAL,
    home: HomeOption = None,
    directory: DirectoryOption = None,
    force: Force = False,
) -> None:
    """Put a new secret and keep the former one valid, until `--finish` ends that."""
    if not finish:
        set_(tenant_id, name, True, generate, stage, home, directory, force)
        return
    _checked(tenant_id, name, stage, directory)
    store = _store(stage, home)
    with telling():
        known = store.read(tenant_id, name)
        if not known:
            raise typer.BadParameter(f"{name} of tenant {tenant_id} has no value", param_hint="NAME")
        if len(known) == 1:
            typer.echo(f"{name} of tenant {tenant_id}: only one is valid already.")
            return
        _put(store, stage, home, (tenant_id, name), known[:1])


@app.command("list", epilog="Example: onceward secrets list acme --stage dev")
def list_(
    tenant_id: TenantArgument,
    stage: StageOption = _LOCAL,
    home: HomeOption = None,
    directory: DirectoryOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List names, versions and dates, and what the tenant's file names and has no value yet."""
    tenant = tenant_of(tenant_id, directory)
    with telling():
        found = _store(stage, home).listed(tenant)
    if as_json:
        print_json([asdict(each) | {"changed": each.changed and each.changed.isoformat()} for each in found])
        return
    uses = names_of(tenant)
    rows = [
        (
            *(each.name, _version(each)),
            each.changed.isoformat(timespec="seconds") if each.changed else "-",
            uses.get(each.name, "nothing: the tenant's file does not name it"),
        )
        for each in found
    ]
    print_columns([("NAME", "VERSION", "CHANGED", "IS"), *rows])


@app.command(epilog="Example: onceward secrets remove acme destinations/orders --stage dev")
def remove(
    tenant_id: TenantArgument,
    name: NameArgument,
    stage: StageOption = _LOCAL,
    home: HomeOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a secret, whether the tenant's file names it or not; a sender is refused from then on.

    Asks first; without a terminal: --yes.
    """
    with telling():
        store = _store(stage, home)
        known = bool(store.read(tenant_id, name))
        if known and not _may_remove(tenant_id, name, stage, agreed=yes):
            raise typer.Exit(1)
        removed = known and store.remove(tenant_id, name)
    if not removed:
        typer.echo(f"{name} of tenant {tenant_id} has no value.", err=True)
        raise typer.Exit(1)
    typer.echo(f"{name} of tenant {tenant_id} is removed.")


def _may_remove(tenant_id: str, name: str, stage: str, *, agreed: bool) -> bool:
    question = f"Remove {name} of tenant {tenant_id} on stage {stage}? Nobody can bring its value back."
    otherwise = "Not removed: --yes does it without asking."
    return confirmed(question, agreed=agreed, scripted=False, otherwise=otherwise)


def _version(secret: Listed) -> str:
    """Without a sender's proof its webhooks are refused; a token that we send may be unwanted."""
    if secret.version is not None:
        return str(secret.version)
    return "missing" if secret.name.startswith(WEBHOOKS) else "none"


def _checked(tenant_id: str, name: str, stage: str, directory: Path | None) -> Tenant:
    tenant = tenant_of(tenant_id, directory)
    if stage not in tenant.stages:
        # Nothing there would ever read it; a production secret would lie about on a stage of no use for it.
        there = ", ".join(tenant.stages)
        raise typer.BadParameter(
            f"tenant {tenant_id} is not on stage {stage!r}; its file says: {there}", param_hint="--stage"
        )
    known = names_of(tenant)
    if name not in known:
        there = ", ".join(known) or "none"
        raise typer.BadParameter(
            f"the file of tenant {tenant_id} has no use for {name!r}; it has for: {there}", param_hint="NAME"
        )
    return tenant


def _read(tenant: Tenant, name: str) -> str:
    """The value, never from an argument: those are in the process list and the shell's history."""
    if sys.stdin.isatty():
        secret: str = typer.prompt(f"{name} of tenant {tenant.id}", hide_input=True, confirmation_prompt=True)
    else:
        secret = sys.stdin.read().rstrip("\r\n")
    try:
        check(tenant, name, secret)
    except SecretError as error:
        raise typer.BadParameter(str(error), param_hint="the secret") from None
    return secret


def _store(stage: str, home: Path | None) -> TenantSecrets:
    return TenantSecrets(clients(reach(stage, home))("ssm"), stage)


def _put(
    store: TenantSecrets, stage: str, home: Path | None, where: tuple[str, str], secrets: Sequence[str]
) -> None:
    tenant_id, name = where
    version = store.put(tenant_id, name, secrets)
    if stage == LOCAL_STAGE and name.startswith(WEBHOOKS):
        write_secret((home or HOME) / LOCAL_OUTPUTS, tenant_id, name.removeprefix(WEBHOOKS), secrets[0])
    valid = "one secret is" if len(secrets) == 1 else f"{len(secrets)} secrets are"
    typer.echo(f"{name} of tenant {tenant_id}: version {version}; {valid} valid.", err=True)
