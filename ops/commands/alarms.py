"""`onceward alarms`: which alarms ring."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from infra.naming import Names
from loadtest.target import LOCAL_STAGE
from ops import alarm_listing
from ops.local.errors import LocalPlatformError
from ops.observing.alarm_definitions import NotCovered
from ops.observing.store import BrokenMetrics
from ops.output import print_columns, print_json
from ops.stages import HOME, HomeOption, StageOption, clients, reach, require_stage, telling

if TYPE_CHECKING:
    from pathlib import Path

    from ops.alarm_listing import Listed

_EPILOG = """Examples:

onceward alarms

onceward alarms --all --stage prod

onceward alarms --run 4f2a1c --json
"""


def register(app: typer.Typer) -> None:
    """Add `alarms` to the root command."""
    app.command(name="alarms", epilog=_EPILOG)(command)


def command(
    stage: StageOption = LOCAL_STAGE,
    run: Annotated[
        str | None,
        typer.Option(
            help="Id of a run: as its alarms were at its end.", show_default="now, or the newest run"
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Also those that are fine.")] = False,
    home: HomeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, of every alarm.")] = False,
) -> None:
    """Show the alarms that ring: whom for, since when, and what to do about it.

    On AWS as CloudWatch has them. The local AWS evaluates no alarms, so here they are worked out from their
    definitions and what the local platform measured, or a run of it: the newest where nothing is up. Exit
    code 1 when one rings, 2 when it could not be looked at.
    """
    found = _listed(stage, run, home or HOME)
    if as_json:
        print_json([_document(alarm) for alarm in found])
    else:
        _print(found, every=every)
    if any(alarm.state == "ALARM" for alarm in found):
        raise typer.Exit(1)


def _listed(stage: str, run: str | None, home: Path) -> list[Listed]:
    require_stage(stage)
    if stage != LOCAL_STAGE:
        if run is not None:
            raise typer.BadParameter("runs are kept of the local platform only", param_hint="--run")
        with telling():
            return alarm_listing.on_aws(clients(reach(stage, None))("cloudwatch"), Names(stage))
    try:
        with telling():
            return _of_home(home) if run is None else _of_run(run, home)
    except (BrokenMetrics, LocalPlatformError, NotCovered, OSError, ValueError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error


def _of_home(home: Path) -> list[Listed]:
    """Of the platform that is up in the home, or of a demo's that runs; else of the newest run."""
    from ops.dashboard import runs  # what they load is not needed for `--help`
    from ops.local import outputs
    from ops.local.platform import LocalPlatform

    own, demo = runs.homes(home)
    if not (own / "local.json").exists() and LocalPlatform(demo).status().running:
        own = demo
    newest = runs.newest(home)
    if (own / "local.json").exists() or newest is None:
        return alarm_listing.of_local(own, outputs.read(own / "local.json"))
    typer.echo(f"Nothing is up in {home}: as it was at the end of run {newest.directory.name}.", err=True)
    return alarm_listing.of_run(newest.metrics, newest.alarms)


def _of_run(run: str, home: Path) -> list[Listed]:
    from ops.dashboard import runs

    files = runs.begun(run, home)  # its alarms need no dashboards
    if files is None:
        there = ", ".join(runs.ids(home)) or "none"
        raise typer.BadParameter(f"no run {run!r}; there are {there}", param_hint="--run")
    return alarm_listing.of_run(files.metrics, files.alarms)


def _print(found: list[Listed], *, every: bool) -> None:
    shown = [alarm for alarm in found if every or alarm.state != "OK"]
    if shown:
        print_columns([(each.state, each.name, _since(each), " ".join(each.tenants)) for each in shown])
    for alarm in shown:
        if alarm.state == "ALARM":
            typer.echo(f"\n{alarm.name}\n  {alarm.description}")
    counts = Counter(alarm.state for alarm in found)
    unknown = f", {counts['INSUFFICIENT_DATA']} without data" if counts["INSUFFICIENT_DATA"] else ""
    typer.echo(f"{len(found)} alarms: {counts['ALARM']} ringing{unknown}.")


def _since(alarm: Listed) -> str:
    return "measured now" if alarm.measured_now else _time(alarm.since_ms)


def _time(moment_ms: int) -> str:
    return datetime.fromtimestamp(moment_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _document(alarm: Listed) -> dict[str, object]:
    return {
        "name": alarm.name,
        "state": alarm.state,
        "tenants": list(alarm.tenants),
        "since": _time(alarm.since_ms),
        "measured_now": alarm.measured_now,
        "description": alarm.description,
    }
