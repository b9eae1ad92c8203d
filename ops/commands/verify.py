"""`onceward verify`: judge a finished run again."""

from pathlib import Path
from typing import Annotated

import typer

from loadtest import history as histories
from loadtest.operations import READ_SUFFIX
from loadtest.run import RunDirectory, RunSettings
from loadtest.sole_judge import JudgedAlready
from loadtest.target import TargetError
from ops import storms
from ops.commands.storm import AsJson, Patience
from ops.stages import reach, telling


def register(app: typer.Typer) -> None:
    """Add `verify` to the root command."""
    app.command(name="verify", epilog="Example: onceward verify --history .onceward/runs/3fa91c")(command)


def command(
    history: Annotated[Path, typer.Option(help="The directory of the run.", exists=True, file_okay=False)],
    stage: Annotated[
        str | None, typer.Option("--stage", help="Where it ran.", show_default="as the run says")
    ] = None,
    settle_seconds: Patience = storms.PATIENCE_SECONDS,
    home: Annotated[
        Path | None,
        typer.Option("--home", help="The local platform's directory.", show_default="as the run says"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a run's history against tables and queues once more. Exit 1 on any violation.

    The run's events were taken off the audit queues the first time; they are kept in its directory. The
    first answers must still be stored: a receipt lives for eight days. Only the platform that the run was
    sent to can judge it: another is refused, and what the run's directory says of it stays. So is a run
    that an older version's plan sent (exit 2), and one that is being judged (exit 1).
    """
    directory = RunDirectory(history)
    try:
        settings = directory.settings()
        target = reach(stage or settings.stage, home or _home_of(settings))
        _tell_if_interrupted(directory, settings)
        with telling():
            judged = storms.judge(directory, target, settle_seconds, quiet=as_json)
    except JudgedAlready as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    except (ValueError, TargetError) as error:
        raise typer.BadParameter(str(error), param_hint="--history") from error
    storms.tell(directory, judged, home, as_json=as_json)


def _home_of(settings: RunSettings) -> Path | None:
    return None if settings.home is None else Path(settings.home)


def _tell_if_interrupted(directory: RunDirectory, settings: RunSettings) -> None:
    """Before all that is missing because of it: the run did not come to its end."""
    sent = sum(not one.operation.endswith(READ_SUFFIX) for one in histories.read(directory.path))
    if sent < settings.requests:
        typer.echo(
            f"The run was interrupted: {sent:,} of its {settings.requests:,} requests are in its history. "
            "It cannot pass; what was sent is checked.",
            err=True,
        )
