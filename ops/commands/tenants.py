"""`onceward tenants`: check, list, show and add tenant files."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from infra.naming import Names
from ops.output import flat, print_columns, print_json, shown
from ops.stages import require_stage
from tenants import schema as schemas
from tenants.errors import TenantFileError
from tenants.loader import TenantSet, check_text, load, load_all
from tenants.models import TENANT_ID
from tenants.registry import source_settings
from tenants.scope import stages_in
from tenants.template import NewTenant, render

if TYPE_CHECKING:
    from tenants.models import Tenant, Tier

app = typer.Typer(help="Tenants are files: check, list, show and add them.", no_args_is_help=True)

_ROOT: Final = Path(__file__).resolve().parents[2]
_HOME: Final = _ROOT / "tenants"
Directory = Annotated[
    Path | None, typer.Option("--directory", help="Where the tenant files are.", show_default="tenants/")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command(epilog="Example: onceward tenants validate --json")
def validate(directory: Directory = None, as_json: Json = False) -> None:
    """Check every file; exit 1 and list all faults (file:line: field: rule) if any is wrong."""
    try:
        everything = load_all(_where(directory), known_stages=stages_in(_ROOT))
    except TenantFileError as error:
        if as_json:
            faults = [
                {"file": fault.file, "line": fault.line, "field": fault.field, "rule": fault.rule}
                for fault in error.faults
            ]
            print_json({"valid": False, "faults": faults})
        else:
            typer.echo(str(error))
        raise typer.Exit(1) from error
    if as_json:
        print_json({"valid": True, "faults": []})
    else:
        typer.echo(f"All valid. Tenants: {len(everything.tenants)}, tiers: {len(everything.tiers)}.")


@app.command("list", epilog="Example: onceward tenants list --stage prod")
def list_(
    stage: Annotated[str | None, typer.Option(help="Only the tenants of this stage.")] = None,
    directory: Directory = None,
    as_json: Json = False,
) -> None:
    """List the tenants with tier, status, stages and key names."""
    tenants = _loaded(directory, stage).tenants
    if as_json:
        print_json([_summary(tenant) for tenant in tenants])
        return
    header = ("ID", "TIER", "STATUS", "STAGES", "KEYS", "NAME")
    rows = [
        (
            *(tenant.id, tenant.tier, tenant.status, ",".join(tenant.stages)),
            *(",".join(key.name for key in tenant.keys), tenant.name),
        )
        for tenant in tenants
    ]
    print_columns([header, *rows])


@app.command(epilog="Example: onceward tenants show acme --json")
def show(
    tenant_id: Annotated[str, typer.Argument(metavar="ID", help="The tenant's id.")],
    directory: Directory = None,
    as_json: Json = False,
) -> None:
    """Show one tenant: its file with all defaults filled in, its limits, and its topics' names.

    Key values are not in the files: `pulumi stack output --show-secrets` has them.
    """
    everything = _loaded(directory, None)
    tenant = next((tenant for tenant in everything.tenants if tenant.id == tenant_id), None)
    if tenant is None:
        raise _unknown(tenant_id, [tenant.id for tenant in everything.tenants])
    details = _details(tenant, everything.tier_of(tenant))
    if as_json:
        print_json(details)
    else:
        print_columns([(name, shown(value)) for name, value in flat(details)])


@app.command(
    epilog='Example: onceward tenants add dunes --name "Dunes Hotels" --tier pro --stage local --stage dev'
)
def add(
    tenant_id: Annotated[
        str, typer.Argument(metavar="ID", help="3 to 32 of a-z, 0-9 and '-', first a letter, last not '-'.")
    ],
    name: Annotated[str | None, typer.Option(help="For people; left out: made of the id.")] = None,
    tier: Annotated[str, typer.Option(help="A tier of tiers.yaml.")] = "starter",
    stage: Annotated[
        list[str] | None, typer.Option("--stage", "--stages", help="Where it exists; repeat, or a,b.")
    ] = None,
    key: Annotated[list[str] | None, typer.Option(help="Name of an API key; at most two.")] = None,
    dashboard: Annotated[str, typer.Option(help="dedicated or shared.")] = "dedicated",
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Made for storms, no real traffic.")] = False,
    directory: Directory = None,
) -> None:
    """Write a commented file for a new tenant, and say what to run next. Never overwrites one."""
    where = _where(directory)
    if not re.fullmatch(TENANT_ID, tenant_id):
        raise typer.BadParameter(f"{tenant_id!r} must match {TENANT_ID}", param_hint="ID")
    new = NewTenant(
        id=tenant_id,
        name=tenant_id.replace("-", " ").title() if name is None else name,
        tier=tier,
        stages=_split(stage or ["local", "dev"]),
        keys=_split(key or ["server"]),
        dashboard=dashboard,
        synthetic=synthetic,
    )
    path = where / f"{tenant_id}.yaml"
    _write(path, render(new))
    typer.echo(f"Wrote {path}. Read it through, then:")
    if "local" in new.stages:
        typer.echo("  make up                      make its resources on the local platform")
    for name_of_stage in (other for other in new.stages if other != "local"):
        typer.echo(f"  {f'pulumi up --stack {name_of_stage}':<28} make its resources on AWS")
    typer.echo(f"  {f'onceward tenants show {tenant_id}':<28} see its limits and names")


@app.command(epilog="Example: onceward tenants schema --check")
def schema(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if a file is out of date.")
    ] = False,
    directory: Directory = None,
) -> None:
    """Write the JSON Schemas that editors use (tenant.schema.json, tiers.schema.json)."""
    where = _where(directory)
    if check:
        old = schemas.outdated(where)
        for path in old:
            typer.echo(f"{path}: is out of date; run `onceward tenants schema`")
        raise typer.Exit(1 if old else 0)
    changed = schemas.export(where)
    typer.echo("\n".join(f"Wrote {path}." for path in changed) or "Both schemas are up to date.")


def _where(directory: Path | None) -> Path:
    """The directory of the files, as short as it can be spelt from here; must exist."""
    where = directory or _HOME
    if not where.is_dir():
        raise typer.BadParameter(f"{where} is not a directory", param_hint="--directory")
    here = Path.cwd()
    return where.relative_to(here) if where.is_relative_to(here) else where


def _loaded(directory: Path | None, stage: str | None) -> TenantSet:
    """All tenants, or a stage's; prints the faults and exits 1 if a file is wrong."""
    if stage is not None:
        require_stage(stage)
    where = _where(directory)
    try:
        known = stages_in(_ROOT)
        if stage is None:
            return load_all(where, known_stages=known)
        return load(where, stage, known_stages=known)
    except TenantFileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


def _write(path: Path, text: str) -> None:
    """Create `path` with `text` if that is a valid tenant; exits 2 where it is not, or the file exists."""
    try:
        check_text(path, text, known_stages=stages_in(_ROOT))
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except TenantFileError as error:
        for fault in error.faults:
            typer.echo(f"{Path(fault.file).name}: {fault.field}: {fault.rule}", err=True)
        typer.echo("Nothing was written.", err=True)
        raise typer.Exit(2) from error
    except FileExistsError as error:
        raise typer.BadParameter(f"{path} is there already; edit it", param_hint="ID") from error


def _unknown(tenant_id: str, known: list[str]) -> typer.BadParameter:
    near = difflib.get_close_matches(tenant_id, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known) or 'none'}"
    return typer.BadParameter(f"no tenant {tenant_id!r}; {hint}", param_hint="ID")


def _summary(tenant: Tenant) -> dict[str, Any]:
    plain = tenant.model_dump(mode="json", by_alias=True)
    fields = ("id", "name", "tier", "status", "stages", "dashboard", "synthetic")
    return {field: plain[field] for field in fields} | {"keys": [key.name for key in tenant.keys]}


def _details(tenant: Tenant, tier: Tier) -> dict[str, Any]:
    """The file's fields with their defaults, and what follows from them."""
    limits = tier.model_dump(mode="json", by_alias=True, exclude={"name"})
    plain = tenant.model_dump(mode="json", by_alias=True)
    plain["operations"]["webhooks"]["sources"] = {
        name: {"path": f"/v1/webhooks/{tenant.id}/{name}", "preset": source.preset}
        | source_settings(source, tier)
        for name, source in tenant.operations.webhooks.sources.items()
    }
    return {
        **plain,
        "limits": limits,
        "topics": {stage: Names(stage).tenant(tenant.id) for stage in tenant.stages},
    }


def _split(values: list[str]) -> list[str]:
    """`["a,b", "c"]` as `["a", "b", "c"]`."""
    return [part.strip() for value in values for part in value.split(",")]
