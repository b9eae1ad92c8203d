"""`onceward release`: the newest versions of functions, to some of the calls first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from infra.naming import Names
from infra.settings import FunctionName
from infra.waves import WAVES
from loadtest.target import LOCAL_STAGE
from ops import releasing
from ops.release import How, ReleaseError, Releases
from ops.stages import HomeOption, clients, reach, telling

if TYPE_CHECKING:
    from loadtest.target import Target

_FUNCTIONS = get_args(FunctionName)
_EPILOG = """Examples:

onceward release --stage prod

onceward release ingest dispatch --stage prod

onceward release --stage prod --all-at-once --json

onceward release ingest --stage prod --ignore-alarms
"""


def register(app: typer.Typer) -> None:
    """Add the command to the CLI."""
    app.command(epilog=_EPILOG)(release)


def release(
    stage: Annotated[str, typer.Option("--stage", help="A stack with `deployment: canary`.")],
    functions: Annotated[
        list[str] | None, typer.Argument(help=f"Some of {', '.join(_FUNCTIONS)}.", show_default="all")
    ] = None,
    all_at_once: Annotated[
        bool, typer.Option("--all-at-once", help="All calls at once: no canary, no waiting.")
    ] = False,
    ignore_alarms: Annotated[
        bool,
        typer.Option("--ignore-alarms", help="Look at no alarm: to release the fix of what rings already."),
    ] = False,
    home: HomeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON when it is over.")] = False,
) -> None:
    """Move each function's alias `live` to its newest version, by CodeDeploy, and follow it to the end.

    `pulumi up` publishes versions; with `deployment: canary` it leaves the aliases alone, and this command
    moves them: a tenth of the calls first, all others when no alarm rang. First the functions that work on
    what was accepted, beside each other; when all of them have succeeded, those that take requests. Exit code
    1 when a deployment was rolled back, with the alarms that ring. A version that was rolled back is still
    the newest: take its change out and run `pulumi up` before the next release.

    While an alarm of its rings, a function cannot be released: with --ignore-alarms it can, and nothing
    rolls it back. Add the functions' names, so that it holds for the one that is mended.
    """
    for name in functions or []:
        if name not in _FUNCTIONS:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(_FUNCTIONS)}", param_hint="FUNCTIONS")
    if stage == LOCAL_STAGE:
        raise typer.BadParameter("the local platform releases with `onceward local up`", param_hint="--stage")
    target = reach(stage, home)
    names = Names(stage)
    try:
        with telling():
            releases = _releases(target, names)
            wanted = frozenset(functions or _FUNCTIONS)
            waves = [
                [releases.step(names.platform(name)) for name in wave if name in wanted] for wave in WAVES
            ]
            releasing.release(releases, waves, How(all_at_once, ignore_alarms), as_json=as_json)
    except ReleaseError as error:
        raise typer.BadParameter(str(error), param_hint="--stage") from error


def _releases(target: Target, names: Names) -> Releases:
    client = clients(target)
    return Releases(client("lambda"), client("codedeploy"), client("cloudwatch"), names.platform("functions"))
