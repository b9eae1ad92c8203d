"""One tenant of the tenant files, for commands that are about one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ops.stages import ROOT
from tenants.errors import TenantFileError
from tenants.loader import load_all
from tenants.scope import stages_in

if TYPE_CHECKING:
    from tenants.models import Tenant

DirectoryOption = Annotated[
    Path | None, typer.Option("--directory", help="Where the tenant files are.", show_default="tenants/")
]


def tenant_of(tenant_id: str, directory: Path | None) -> Tenant:
    """The tenant; exits 2 with the names that there are, or 1 with every fault if a file is wrong."""
    try:
        tenants = load_all(directory or ROOT / "tenants", known_stages=stages_in(ROOT)).tenants
    except TenantFileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    for tenant in tenants:
        if tenant.id == tenant_id:
            return tenant
    there = ", ".join(tenant.id for tenant in tenants) or "none"
    raise typer.BadParameter(f"no tenant {tenant_id!r}; there are: {there}", param_hint="TENANT")
