"""`onceward demo` (`make demo`): the whole platform on the local AWS, a storm, and the verdict."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shlex import quote
from typing import Annotated

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError

from infra.naming import ALIAS, Names
from loadtest.run import RunSettings
from loadtest.target import Target
from ops import sample_traffic, storms
from ops.commands.storm import (
    AsJson,
    Burst,
    Keys,
    Operations,
    Patience,
    Requests,
    Seed,
    Users,
    check_plan,
    choose_operations,
    new_run_id,
    new_seed,
)
from ops.commands.storm import storm as send_and_judge
from ops.local import outputs as local_outputs
from ops.local.display import summary_lines
from ops.local.errors import HomeError, LocalPlatformError
from ops.local.files import exclusive, own_home
from ops.local.platform import STAGE, LocalPlatform, Say
from ops.stages import HOME, ROOT, reach
from tenants.errors import TenantFileError
from tenants.loader import load
from tenants.models import Tenant

_HOME = HOME / "demo"


def register(app: typer.Typer) -> None:
    """Add `demo` to the root command."""
    app.command(name="demo", epilog="Example: onceward demo --keep")(command)


def command(
    requests: Requests = storms.REQUESTS,
    keys: Keys = storms.KEYS,
    operations: Operations = None,
    seed: Seed = None,
    users: Users = storms.USERS,
    burst: Burst = storms.BURST,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the platform up afterwards.")] = False,
    settle_seconds: Patience = storms.PATIENCE_SECONDS,
    home: Annotated[
        Path, typer.Option(help="The demo's own platform.", show_default=".onceward/demo", file_okay=False)
    ] = _HOME,
    as_json: AsJson = False,
) -> None:
    """Bring the platform up, onboard the sample tenants, send a duplicate storm, check what it left.

    Exit 0 only with no violation. The demo has a platform of its own, made anew each time and brought down
    at the end (unless --keep is given): what `make up` started is not touched.
    """
    began = time.monotonic()
    settings = RunSettings(
        run_id=new_run_id(),
        stage=STAGE,
        seed=new_seed() if seed is None else seed,
        requests=requests,
        keys=keys,
        tenants=_synthetic_tenants(),
        rate=storms.RATE,
        burst=burst,
        users=users,
        operations=choose_operations(STAGE, operations or ()),
    )
    check_plan(settings)
    with alone(home, "demo"), own_platform(home, keep=keep, quiet=as_json):
        try:
            target = reach(STAGE, home)
            _send_samples(home)
            _run_what_is_scheduled(target)
            # From the start on: the platform is the demo's alone, and the samples are in it.
            send_and_judge(target, settings, home, None, settle_seconds, as_json=as_json, metrics_since_ms=0)
        finally:
            if not as_json:
                typer.echo(f"The demo took {time.monotonic() - began:.0f} s.")


def _synthetic_tenants() -> tuple[str, ...]:
    return tuple(one.id for one in _tenants() if one.synthetic)


def _send_samples(home: Path) -> None:
    """A little traffic of the tenants with a dashboard of their own, which no storm touches."""
    shown = [
        one
        for one in _tenants()
        if not one.synthetic and one.status == "active" and one.dashboard == "dedicated"
    ]
    for line in sample_traffic.send(shown, local_outputs.read(home / "local.json")):
        typer.echo(f"A sample request went wrong: {line}", err=True)


def _run_what_is_scheduled(target: Target) -> None:
    """Run the reconciler once: its schedule is once a minute, and the whole demo can be shorter."""
    try:
        boto3.client("lambda", **target.client_options()).invoke(
            FunctionName=Names(target.stage).platform("reconcile"), Qualifier=ALIAS
        )
    except (BotoCoreError, ClientError) as error:
        typer.echo(f"The reconciler could not be called: {error}", err=True)


def _tenants() -> Sequence[Tenant]:
    """Those that the platform has, or will have: known before it is up."""
    try:
        return load(ROOT / "tenants", STAGE).tenants
    except TenantFileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


@contextmanager
def alone(home: Path, what: str) -> Iterator[None]:
    """Hold a home for all of a demo or a soak (`what`): a second would take its platform away."""
    with ExitStack() as held:
        try:
            held.enter_context(exclusive(own_home(home) / "demo.lock"))
        except HomeError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(2) from error
        except LocalPlatformError as error:
            typer.echo(
                f"A {what} is running in {home}: wait for it, or give this one another --home.", err=True
            )
            raise typer.Exit(1) from error
        yield


@contextmanager
def own_platform(
    home: Path, tenants_directory: Path | None = None, *, keep: bool, quiet: bool
) -> Iterator[None]:
    """Make the platform anew; at the end bring it down, unless it is to be kept.

    `tenants_directory`: its tenant files; None: those of the repository.
    """
    say: Say = (lambda _line: None) if quiet else typer.echo
    try:
        platform = LocalPlatform(home, tenants_directory, owned=not keep, say=say)
        began = time.monotonic()
        say("Bringing the platform up on the local AWS")
        summary = platform.up(fresh=True)
        say("\n".join(summary_lines(summary, time.monotonic() - began, dry_run=False)))
        try:
            yield
        finally:
            if keep:
                say(f"The platform stays up; `onceward local down --home {quote(str(home))}` stops it.")
            else:
                platform.down()
                again = f"onceward local up --home {quote(str(home))}"
                say(f"The platform is down again; `{again}` brings it back.")
    except LocalPlatformError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
