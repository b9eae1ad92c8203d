"""`onceward openapi`: the API's OpenAPI document, made from the operations and kept in the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from infra.openapi import FILE
from ops.openapi import api

_ROOT: Final = Path(__file__).resolve().parents[2]


def register(app: typer.Typer) -> None:
    """Add the command to the CLI."""
    app.command(epilog="Example: onceward openapi --check")(openapi)


def openapi(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if the file is out of date.")
    ] = False,
) -> None:
    """Write docs/openapi.json, which the gateway serves at /v1/openapi.json."""
    outdated = api.is_outdated(_ROOT)
    if check:
        if outdated:
            typer.echo(f"{FILE}: is out of date; run `onceward openapi`")
        raise typer.Exit(1 if outdated else 0)
    if outdated:
        api.write(_ROOT)
    typer.echo(f"Wrote {FILE}." if outdated else f"{FILE} is up to date.")
