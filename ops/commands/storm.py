"""`onceward storm`: send a duplicate storm to a stage and judge what came of it."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from botocore.exceptions import BotoCoreError, ClientError

from loadtest import preflight
from loadtest.operations import BY_NAME, ELSEWHERE, in_order
from loadtest.plan import plan
from loadtest.run import RunDirectory, RunSettings
from loadtest.sole_judge import JudgedAlready
from loadtest.storm import StormError
from loadtest.target import LOCAL_STAGE, Target, TargetError, choose
from ops import storms
from ops.observing.keeping import observed
from ops.stages import HOME, HomeOption, StageOption, reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EPILOG = """Examples:

onceward storm

onceward storm --stage dev --requests 20000 --keys 500 --users 64 --burst 32 --rate 800 --workers 4

onceward storm --operations payments --operations appointments

onceward storm --seed 7 --json
"""

Requests = Annotated[int, typer.Option(min=1, help="Requests in all.")]
Keys = Annotated[int, typer.Option(min=1, help="Idempotency keys in all.")]
Tenants = Annotated[
    list[str] | None,
    typer.Option("--tenants", help="A tenant to storm; repeat for more.", show_default="all synthetic ones"),
]
Operations = Annotated[
    list[str] | None,
    typer.Option(
        "--operations",
        help="An operation to storm; repeat for more. Elsewhere than on stage local, payments would reach a "
        "provider, orders a destination, and webhooks need the secrets of their senders: name them to storm "
        "them there.",
        show_default="all on stage local; else leads, appointments",
    ),
]
Seed = Annotated[int | None, typer.Option(help="The same seed sends the same storm.", show_default="random")]
Rate = Annotated[float, typer.Option(help="Intended requests a second.")]
Users = Annotated[int, typer.Option(min=1, help="Locust users, over all workers.")]
Burst = Annotated[int, typer.Option(min=2, help="Clients that send one key at the same moment.")]
Workers = Annotated[int, typer.Option(min=0, help="Locust worker processes; 0: one process does it all.")]
RunDir = Annotated[
    Path | None,
    typer.Option(help="Where history, verdict and report go.", show_default=".onceward/runs/<run id>"),
]
Patience = Annotated[
    float, typer.Option("--settle-seconds", min=1, help="How long to wait for what is missing.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")]


def register(app: typer.Typer) -> None:
    """Add `storm` to the root command."""
    app.command(name="storm", epilog=_EPILOG)(command)


def command(
    stage: StageOption = "local",
    requests: Requests = storms.REQUESTS,
    keys: Keys = storms.KEYS,
    tenants: Tenants = None,
    operations: Operations = None,
    seed: Seed = None,
    rate: Rate = storms.RATE,
    users: Users = storms.USERS,
    burst: Burst = storms.BURST,
    workers: Workers = 0,
    run_dir: RunDir = None,
    settle_seconds: Patience = storms.PATIENCE_SECONDS,
    home: HomeOption = None,
    as_json: AsJson = False,
) -> None:
    """Send a duplicate storm with Locust, then check tables and queues. Exit 1 on any violation.

    Only tenants with `synthetic: true` are stormed outside stage `local`. One storm at a time for a tenant:
    two would take each other's messages off its audit queue.
    """
    target = reach(stage, home)
    settings = RunSettings(
        run_id=new_run_id(),
        stage=stage,
        seed=new_seed() if seed is None else seed,
        requests=requests,
        keys=keys,
        tenants=choose_tenants(target, tenants or ()),
        rate=rate,
        burst=burst,
        users=users,
        workers=workers,
        operations=choose_operations(stage, operations or ()),
    )
    storm(target, settings, home or HOME, run_dir, settle_seconds, as_json=as_json)


def storm(
    target: Target,
    settings: RunSettings,
    home: Path,
    run_dir: Path | None,
    settle_seconds: float,
    *,
    as_json: bool,
    metrics_since_ms: int | None = None,
) -> None:
    """Send, judge and tell.

    On stage `local` the metrics are collected meanwhile (`ops.observing`), of what ended after
    `metrics_since_ms` (ms since the epoch; None: from now on).

    Exit code 1 on violations, a broken run, or one that was sent and could not be judged; 2 when nothing was
    sent: settings that make no storm, or a stage that is not in order.
    """
    settings = sent_to(target, settings, home)
    directory = prepared(target, settings, run_dir or home / "runs" / settings.run_id)
    if not as_json:
        typer.echo(
            f"Storm {settings.run_id}: {settings.requests:,} requests, {settings.keys:,} keys, "
            f"tenants {', '.join(settings.tenants)}; seed {settings.seed}"
        )
    watched = observed(target, home, directory.path, _warn, since_ms=metrics_since_ms)
    with storm_errors_told(directory, home), watched:
        storms.send(directory, settings, home, quiet=as_json)
        judged = storms.judge(directory, target, settle_seconds, quiet=as_json)
    storms.tell(directory, judged, home, as_json=as_json)


def _warn(line: str) -> None:
    typer.echo(line, err=True)


def sent_to(target: Target, settings: RunSettings, home: Path) -> RunSettings:
    """The settings with the platform that the run goes to: no other can judge it."""
    local = settings.stage == LOCAL_STAGE
    return replace(settings, api_url=target.api_url, home=str(home.resolve()) if local else None)


def prepared(target: Target, settings: RunSettings, path: Path) -> RunDirectory:
    """The run's directory, once all that a storm needs is there; else the command ends with exit code 2."""
    try:
        check_plan(settings)
        tenants = choose(target, settings.tenants)
        mark, operations = settings.key_prefix, settings.operations
        preflight.check(target, tenants, mark, path / "events.jsonl", operations)
        return RunDirectory.create(path, settings)
    except TargetError as error:
        raise typer.BadParameter(str(error), param_hint="--stage") from error
    except FileExistsError as error:
        what = "holds a run already" if path.is_dir() else "is not a directory"
        raise typer.BadParameter(f"{path} {what}; name a new directory", param_hint="--run-dir") from error


def check_plan(settings: RunSettings) -> None:
    """Settings that make no storm end the command with exit code 2."""
    try:
        plan(settings)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def new_run_id() -> str:
    """Six hexadecimal digits of chance: enough to tell runs apart that one table still remembers."""
    return secrets.token_hex(3)


def new_seed() -> int:
    """A seed that is short enough to type again."""
    return secrets.randbelow(1_000_000)


def choose_operations(stage: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """The operations' names in order; one that there is not ends the command with exit code 2."""
    usual = tuple(BY_NAME) if stage == LOCAL_STAGE else ELSEWHERE
    try:
        return in_order(wanted or usual)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--operations") from error


def choose_tenants(target: Target, wanted: Sequence[str]) -> tuple[str, ...]:
    """The tenants' ids; one that may not be stormed ends the command with exit code 2."""
    try:
        return tuple(one.tenant_id for one in choose(target, wanted))
    except TargetError as error:
        raise typer.BadParameter(str(error), param_hint="--tenants") from error


@contextmanager
def storm_errors_told(directory: RunDirectory, home: Path) -> Iterator[None]:
    """A storm that was not sent to its end, or not judged, is no verdict: its reason, and exit code 1."""
    try:
        yield
    except StormError as error:
        typer.echo(f"The storm did not run to its end: {error}", err=True)
        raise typer.Exit(1) from error
    except (TargetError, JudgedAlready, ValueError, BotoCoreError, ClientError) as error:
        typer.echo(f"The storm was sent, and could not be judged: {error}", err=True)
        typer.echo(storms.again(directory, home), err=True)
        raise typer.Exit(1) from error
