"""`onceward dashboard`: the platform's dashboards in a browser, without AWS."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ops.dashboard import runs
from ops.dashboard.body import BodyError
from ops.dashboard.drawer import Drawer, NoDashboard
from ops.dashboard.site import serving
from ops.dashboard.windows import DEFAULT_PERIOD, DEFAULT_RANGE, PERIODS, RANGES, WHOLE
from ops.local.errors import HomeError, LocalPlatformError
from ops.observing.store import BrokenMetrics
from ops.output import print_json
from ops.stages import HOME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.dashboard.drawing import Asked
    from ops.dashboard.sources import Source

_EPILOG = """Examples:

onceward dashboard

onceward dashboard --run 4f2a1c

onceward dashboard --json --show onceward-local_any-tenant --set tenant=acme --range all
"""

PORT = 8090
"""Beside the lead form's 8088, and like that one free on most machines."""

Home = Annotated[
    Path,
    typer.Option(
        help="Where the platform keeps its state.", show_default=".onceward, and its demo", file_okay=False
    ),
]


def register(app: typer.Typer) -> None:
    """Add `dashboard` to the root command."""
    app.command(name="dashboard", epilog=_EPILOG)(command)


def command(
    run: Annotated[
        str | None,
        typer.Option(
            help="Id or directory of a run that is shown.", show_default="what runs, else the newest run"
        ),
    ] = None,
    home: Home = HOME,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to serve; 0: any free port.")] = PORT,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="Stop by itself after so long.", show_default="at Ctrl-C")
    ] = None,
    show: Annotated[
        str | None, typer.Option(help="With --json: the dashboard's name.", show_default="the platform's")
    ] = None,
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="ID=VALUE", help="With --json: a variable's value.")
    ] = None,
    range_: Annotated[
        str | None,
        typer.Option(
            "--range",
            help=f"With --json: {', '.join(RANGES)}.",
            show_default=f"{DEFAULT_RANGE}; {WHOLE} of a run",
        ),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(help=f"With --json: periods, {', '.join(PERIODS)}.", show_default=DEFAULT_PERIOD),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one dashboard's data and end.")] = False,
) -> None:
    """Show the dashboards that the program makes, drawn of local metrics, in a browser on this machine.

    Of the platform that runs in --home (`make up`) or of a demo that is running; else of the newest run.
    On AWS the same dashboards are in CloudWatch. Exit 1 when there is nothing to show, 2 when a run's files
    cannot be read.
    """
    if as_json:
        wanted = _asked(values or (), range_, period or DEFAULT_PERIOD)
        _print(_source(home, run), show, wanted)
    else:
        _require_no_choice({"--show": show, "--set": values, "--range": range_, "--period": period})
        _serve(_source(home, run), port, seconds)


def _require_no_choice(chosen: Mapping[str, object]) -> None:
    """What only `--json` heeds is chosen in the browser otherwise: exit code 2."""
    for option, value in chosen.items():
        if value:
            raise typer.BadParameter("it goes with --json; the page has its own", param_hint=option)


def _source(home: Path, run: str | None) -> Source:
    """What to draw of; nothing ends the command with exit code 1, a run that is unknown or broken with 2."""
    from ops.dashboard.sources import Recorded, live  # boto3 and the rest are not loaded for `--help`

    try:
        if run is not None:
            files = runs.named(run, home)
            if files is None:
                raise typer.BadParameter(_nothing_of(run, home), param_hint="--run")
            return Recorded(files)
        running = live(runs.homes(home))
        if running is not None:
            return running
        newest = runs.newest(home)
        if newest is not None:
            return Recorded(newest)
    except (BrokenMetrics, HomeError, ValueError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    except (LocalPlatformError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    typer.echo(f"Nothing runs in {home}, and no run there has metrics: `make demo` makes some.", err=True)
    raise typer.Exit(1)


def _nothing_of(run: str, home: Path) -> str:
    begun = runs.begun(run, home)
    there = ", ".join(runs.ids(home)) or "none"
    return f"no run {run!r}; there are {there}" if begun is None else begun.lacks()


def _serve(source: Source, port: int, seconds: float | None) -> None:
    """Serve until Ctrl-C, or for so many seconds."""
    try:
        with source, ExitStack() as served:
            try:
                address = served.enter_context(serving(source, port))
            except OSError as error:
                told = f"Port {port}: {error.strerror}; give another with --port (0: any free one)."
                typer.echo(told, err=True)
                raise typer.Exit(1) from error
            typer.echo(f"{source.title}: {address}\nCtrl-C ends it.")
            threading.Event().wait(seconds)
    except KeyboardInterrupt:
        typer.echo("")  # the terminal has ^C on the line
    except OSError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


def _print(source: Source, name: str | None, wanted: Asked) -> None:
    """One dashboard's data as JSON; the platform's where none is named."""
    with source:
        drawer = Drawer(source)
        names = drawer.listing()["dashboards"]
        chosen = name or next((each for each in names if each.endswith("_platform")), "")
        try:
            drawn = drawer.dashboard(chosen, wanted)
        except NoDashboard as error:
            raise typer.BadParameter(str(error), param_hint="--show") from error
        except (BodyError, BrokenMetrics) as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(2) from error
        _require_variables(wanted, [each["id"] for each in drawn["variables"]])
        print_json(drawn)


def _require_variables(wanted: Asked, known: Sequence[str]) -> None:
    """A value of what the dashboard does not have would be heeded by nobody: exit code 2."""
    unknown = [each for each in wanted.values if each not in known]
    if unknown:
        there = ", ".join(known) or "none"
        raise typer.BadParameter(f"no variable {unknown[0]!r}; there are {there}", param_hint="--set")


def _asked(values: Sequence[str], range_: str | None, period: str) -> Asked:
    from ops.dashboard.drawing import Asked

    faulty = [each for each in values if "=" not in each]
    if faulty:
        raise typer.BadParameter(f"{faulty[0]!r} is not ID=VALUE", param_hint="--set")
    try:
        return Asked(range_, period, dict(each.split("=", 1) for each in values))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
