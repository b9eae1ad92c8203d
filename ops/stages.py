"""Reaching a deployed stage: what `--stage` means to every command that talks to one."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError

from handlers.domain.errors import OncewardError
from loadtest.target import Target, TargetError, load
from tenants.scope import stages_in
from tenants.text import STAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT: Final = Path(__file__).resolve().parents[1]
HOME: Final = ROOT / ".onceward"

StageOption = Annotated[str, typer.Option("--stage", help="local, or a stack that Pulumi has deployed.")]
HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home", help="The local platform's directory.", show_default=".onceward/", file_okay=False
    ),
]


def reach(stage: str, home: Path | None) -> Target:
    """The stage's outputs; a stage that cannot be reached ends the command with exit code 2."""
    require_stage(stage)
    try:
        return load(stage, home or HOME, ROOT)
    except TargetError as error:
        raise typer.BadParameter(str(error), param_hint="--stage") from error


def require_stage(stage: str) -> None:
    """A stage that has no settings ends the command with exit code 2, and the names of those that have."""
    if not re.fullmatch(STAGE, stage):
        raise typer.BadParameter(f"{stage!r} must match {STAGE}", param_hint="--stage")
    known = stages_in(ROOT)
    if stage not in known:
        there = ", ".join(sorted(known)) or "none"
        raise typer.BadParameter(
            f"no stage {stage!r} (no Pulumi.{stage}.yaml); there are: {there}", param_hint="--stage"
        )


def require_tenant(target: Target, tenant_id: str) -> None:
    """A tenant that the stage does not have ends the command with exit code 2, and the names of its own."""
    if tenant_id not in target.tenant_ids:
        there = ", ".join(sorted(target.tenant_ids)) or "none"
        raise typer.BadParameter(
            f"stage {target.stage} has no tenant {tenant_id!r}; there are: {there}", param_hint="--tenant"
        )


def clients(target: Target) -> Callable[[str], Any]:
    """Makes AWS clients for the stage, with the operator's own credentials (the local AWS has its own)."""
    session = boto3.Session()

    def client(service: str) -> Any:  # noqa: ANN401 - boto3 makes these classes as it runs
        return session.client(service, **target.client_options())

    return client


@contextmanager
def telling() -> Iterator[None]:
    """What AWS refuses (a right, a missing resource, no network) ends the command: one line, exit code 2."""
    try:
        yield
    except (BotoCoreError, ClientError, OncewardError) as error:
        typer.echo(f"AWS did not do it: {error}", err=True)
        raise typer.Exit(2) from error
