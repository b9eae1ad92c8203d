"""`onceward verify`: judge a finished run again."""

from pathlib import Path
from typing import Annotated

import typer

from loadtest.run import RunDirectory
from loadtest.target import TargetError
from ops import storms
from ops.commands.storm import AsJson, Patience
from ops.stages import HomeOption, reach, telling


def register(app: typer.Typer) -> None:
    """Add `verify` to the root command."""
    app.command(name="verify", epilog="Example: onceward verify --history .onceward/runs/3fa91c")(command)


def command(
    history: Annotated[Path, typer.Option(help="The directory of the run.", exists=True, file_okay=False)],
    stage: Annotated[
        str | None, typer.Option("--stage", help="Where it ran.", show_default="as the run says")
    ] = None,
    settle_seconds: Patience = storms.PATIENCE_SECONDS,
    home: HomeOption = None,
    as_json: AsJson = False,
) -> None:
    """Check a run's history against tables and queues once more. Exit 1 on any violation.

    The run's events were taken off the audit queues the first time; they are kept in its directory. The
    first answers must still be stored: a receipt lives for eight days.
    """
    directory = RunDirectory(history)
    try:
        target = reach(stage or directory.settings().stage, home)
        with telling():
            judged = storms.judge(directory, target, settle_seconds, quiet=as_json)
    except (ValueError, TargetError) as error:
        raise typer.BadParameter(str(error), param_hint="--history") from error
    storms.tell(directory, judged, home, as_json=as_json)
