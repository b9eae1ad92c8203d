"""`onceward local`: the local platform, up, down and how it is."""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ops.local.display import summary_lines
from ops.local.errors import HomeError, LocalPlatformError
from ops.local.form import FormSite
from ops.local.platform import REPOSITORY, LocalPlatform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.local.outputs import LocalOutputs

app = typer.Typer(help="The local platform: the Pulumi program on a local AWS.", no_args_is_help=True)

Home = Annotated[
    Path, typer.Option(help="Where the platform keeps its state.", show_default=".onceward", file_okay=False)
]
Tenants = Annotated[
    Path | None,
    typer.Option("--tenants", help="Directory of tenant files.", show_default="as the stage says"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]

_HOME = REPOSITORY / ".onceward"

_WEBHOOK = ("ONCEWARD_WEBHOOK_URL", "ONCEWARD_WEBHOOK_SECRET")

_UNSET = " ".join(("unset ONCEWARD_URL ONCEWARD_KEY ONCEWARD_STAND_IN_URL", *_WEBHOOK))

_INTERRUPTED = 130
"""128 + SIGINT (2): the exit code of a command that Ctrl-C ended, by the shells' convention."""


@app.command()
def up(
    home: Home = _HOME,
    tenants: Tenants = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget all that was there before.")] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Only say what would be done.")] = False,
    form_port: Annotated[
        int,
        typer.Option(
            min=1, max=65535, help="Port of the lead form; must be in the origins of the tenant's key."
        ),
    ] = FormSite.port,
    as_json: AsJson = False,
) -> None:
    """Start the local AWS and bring the platform up on it; run again to apply what changed.

    Examples:

    onceward local up

    onceward local up --preview --tenants my-tenants

    onceward local up --fresh --json
    """
    say = (lambda _line: None) if as_json else typer.echo
    began = time.monotonic()
    platform = LocalPlatform(home, tenants, form=FormSite(port=form_port), say=say, warn=_warn)
    with _errors_told(), _interruption_told(platform):
        summary = platform.preview() if preview else platform.up(fresh=fresh)
    if as_json:
        typer.echo(json.dumps(asdict(summary)))
        return
    typer.echo("\n".join(summary_lines(summary, time.monotonic() - began, dry_run=preview)))
    if not preview:
        _tell(platform)


@app.command()
def down(home: Home = _HOME) -> None:
    """Stop every process of the platform; its state is saved and comes back with the next `up`.

    Example: onceward local down
    """
    with _errors_told():
        LocalPlatform(home, say=typer.echo).down()
    typer.echo("The local platform is down.")


@app.command()
def status(home: Home = _HOME, as_json: AsJson = False) -> None:
    """Say whether the platform runs and where; exit 1 if it does not, or not all of it.

    Example: onceward local status --json
    """
    platform = LocalPlatform(home)
    with _errors_told():
        now = platform.status()
    if as_json:
        typer.echo(json.dumps(asdict(now)))
    elif now.complete:
        typer.echo(f"Up: {now.resources} resources, tenants {', '.join(now.tenants) or 'none'}.")
        _tell(platform)
    else:
        typer.echo(f"Incomplete: {now.unfinished}" if now.running else "Down.")
    if not now.complete:
        raise typer.Exit(1)


@app.command()
def env(
    tenant: Annotated[str, typer.Argument(help="A tenant's id.")],
    key: Annotated[str, typer.Argument(help="The name of one of its keys.")] = "server",
    source: Annotated[
        str | None, typer.Option(help="A webhook source of it.", show_default="its first")
    ] = None,
    home: Home = _HOME,
) -> None:
    """Print shell lines for `eval` that set ONCEWARD_URL, ONCEWARD_KEY and what else a caller needs.

    ONCEWARD_WEBHOOK_URL and ONCEWARD_WEBHOOK_SECRET are those of a webhook source, ONCEWARD_STAND_IN_URL is
    where payment provider and CRM answer. Exit 1 if the platform is down. Where there is nothing to set, a
    line unsets it: an `eval` must not leave another tenant's key.

    Example: eval "$(onceward local env acme)"
    """
    platform = LocalPlatform(home)
    with _errors_told():
        outputs = _outputs_of_what_runs(platform)
    known = outputs.tenants.get(tenant)
    if known is None or key not in known.keys:
        there = ", ".join(f"{name}: {'/'.join(each.keys)}" for name, each in sorted(outputs.tenants.items()))
        typer.echo(_UNSET)
        typer.echo(f"There is no key {key!r} of a tenant {tenant!r}. There are {there}.", err=True)
        raise typer.Exit(2)
    if known.status == "suspended":
        _warn(f"# tenant {tenant} is suspended: its requests are refused (403)")
    typer.echo(f"export ONCEWARD_URL={shlex.quote(outputs.api_url)}")
    typer.echo(f"export ONCEWARD_KEY={shlex.quote(known.keys[key])}")
    _export("ONCEWARD_STAND_IN_URL", outputs.stand_in_url)
    sender = known.webhooks.get(next(iter(known.webhooks), "") if source is None else source)
    if source is not None and sender is None:
        there = ", ".join(known.webhooks) or "none"
        typer.echo(f"Tenant {tenant!r} has no webhook source {source!r}. There are: {there}.", err=True)
    for name, value in zip(_WEBHOOK, (sender.url, sender.secret) if sender else (None, None), strict=True):
        _export(name, value)
    if source is not None and sender is None:
        raise typer.Exit(2)


def _export(name: str, value: str | None) -> None:
    """A line for the shell: sets the variable, or unsets it."""
    typer.echo(f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}")


def _outputs_of_what_runs(platform: LocalPlatform) -> LocalOutputs:
    """The outputs; raises LocalPlatformError, and unsets what an `eval` set before, if nothing runs."""
    if platform.status().running and platform.outputs_file.exists():
        return platform.outputs()
    typer.echo(_UNSET)
    raise LocalPlatformError("The platform is not up; bring the platform up first (`make up`).")


@contextlib.contextmanager
def _errors_told() -> Iterator[None]:
    """Show an error that the user can mend as its message alone, and exit 1; 2 for a home that is none."""
    try:
        yield
    except HomeError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    except LocalPlatformError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


@contextlib.contextmanager
def _interruption_told(platform: LocalPlatform) -> Iterator[None]:
    """Say in one line what Ctrl-C leaves behind, and exit as a shell does after SIGINT."""
    try:
        yield
    except KeyboardInterrupt as interruption:
        now = platform.status()
        left = f"the local AWS still runs at {now.endpoint_url}" if now.running else "nothing runs"
        typer.echo(f"Interrupted: {left}; `make up` continues, `make down` stops it.", err=True)
        raise typer.Exit(_INTERRUPTED) from interruption


def _warn(line: str) -> None:
    """On stderr, so that `--json` keeps its one object and still hides nothing."""
    typer.echo(line, err=True)


def _tell(platform: LocalPlatform) -> None:
    now = platform.status()
    typer.echo(f"API:       {now.api_url}")
    typer.echo(f"AWS:       {now.endpoint_url}")
    if now.form_url is not None:
        typer.echo(f"Lead form: {now.form_url}")
    if now.stand_in_url is not None:
        typer.echo(f"Stand-in:  {now.stand_in_url} (payment provider and CRM)")
    typer.echo(f"Keys, senders' secrets and credentials are in {platform.outputs_file}.")
