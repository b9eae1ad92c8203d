"""`onceward rollback`: one function back to an earlier version, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from infra.naming import Names
from infra.settings import FunctionName
from loadtest.target import LOCAL_STAGE
from ops.output import print_json
from ops.rollback import RollbackError, refuse_during_deployment, roll_back
from ops.stages import HomeOption, StageOption, clients, reach, telling

if TYPE_CHECKING:
    from ops.rollback import Move

_FUNCTIONS = get_args(FunctionName)


def register(app: typer.Typer) -> None:
    """Add the command to the CLI."""
    app.command(epilog="Example: onceward rollback ingest --stage dev")(rollback)


def rollback(
    function: Annotated[str, typer.Argument(help=f"One of {', '.join(_FUNCTIONS)}.")],
    stage: StageOption,
    to: Annotated[
        int | None, typer.Option("--to", min=1, help="A published version.", show_default="the one before")
    ] = None,
    home: HomeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Point a function's alias `live` at an earlier version; requests go there from then on.

    It stays there until an update publishes another version (with `deployment: canary`: until the next
    `onceward release`). Take the change out of the code too. In a canary all calls go to the version that
    had most of them before it. Refused while CodeDeploy is at the function: the message says how to stop it.
    """
    if function not in _FUNCTIONS:
        raise typer.BadParameter(f"{function!r} is none of {', '.join(_FUNCTIONS)}", param_hint="FUNCTION")
    client, names = clients(reach(stage, home)), Names(stage)
    physical = names.platform(function)
    try:
        with telling():
            if stage != LOCAL_STAGE:  # which has no CodeDeploy
                refuse_during_deployment(client("codedeploy"), names.platform("functions"), physical)
            move = roll_back(client("lambda"), physical, to)
    except RollbackError as error:
        raise typer.BadParameter(str(error), param_hint="FUNCTION" if to is None else "--to") from error
    if as_json:
        weights = dict(move.weights)
        print_json({"function": move.function, "from": move.before, "to": move.after, "weights": weights})
    else:
        typer.echo(f"{move.function}: live {_before(move)} -> {move.after}")


def _before(move: Move) -> str:
    beside = "".join(f", {share:.0%} of the calls to {version}" for version, share in move.weights.items())
    return f"{move.before}{beside}"
