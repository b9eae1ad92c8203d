"""`make chaos`: a storm under injected faults, on a local platform of its own."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from chaos.conduct import NothingSaved
from chaos.functions import MOST_SKEW_SECONDS, SKEW_SECONDS, Code
from chaos.plants import PLANTS
from chaos.recovery import RecoveryFailed
from chaos.report import again, judged, lines
from chaos.run import Run, run
from loadtest.operations import BY_NAME
from loadtest.run import RunSettings
from loadtest.storm import StormError
from loadtest.target import TargetError
from ops.commands.storm import check_plan, new_run_id, new_seed
from ops.local.errors import LocalPlatformError
from ops.local.platform import STAGE
from ops.stages import ROOT
from tenants.loader import load

# Three to four minutes on two cores: half of it the storm, the rest the platform, the restart, and the wait
# for leases that skewed clocks left. Each kind of fault is met dozens of times by then, kills about ten.
REQUESTS, KEYS, SECONDS = 2_500, 120, 120.0
# Fewer at once than in the demo: each client at once is a cold worker, and here all start cold three times
# (with skewed clocks, after the restart, and when they are as they were again).
_USERS, _BURST = 4, 3
# As the demo's: longer than the visibility timeout of the retry queue (30 s), here with room for two.
_PATIENCE_SECONDS = 90.0

_HELP = """Send a duplicate storm over all five operations under injected faults, then mend, retry and judge.

What got no answer is sent again, and what the outage lost is brought back with the operator's commands.
Exit 0 only with zero violations, every key answered, all queues empty, and every kind of fault injected.

The same --seed, --requests, --keys, --seconds and --skew give the same requests with the same keys and
bodies in the same planned order, the same fault for the n-th call of each function to each AWS service, the
same occasions (copies of the stream, delaying queues, the restart) at the same number of attempts sent, and
the same choice among what is in the stream then. Not repeated: which request makes a function's n-th call
(threads and retries decide), process ids and so which worker has which clock, the run's id, all times.
"""


def main(
    seed: Annotated[int | None, typer.Option(help="Of plan and faults.", show_default="random")] = None,
    requests: Annotated[int, typer.Option(min=1, help="Requests of the storm.")] = REQUESTS,
    keys: Annotated[int, typer.Option(min=1, help="Idempotency keys.")] = KEYS,
    seconds: Annotated[float, typer.Option(min=1, help="How long the storm is meant to take.")] = SECONDS,
    plant: Annotated[
        str | None, typer.Option(help=f"Plant a fault of the product, to be found: {', '.join(PLANTS)}.")
    ] = None,
    skew: Annotated[
        int, typer.Option(min=1, max=MOST_SKEW_SECONDS, help="How far clocks are off at most, in seconds.")
    ] = SKEW_SECONDS,
    home: Annotated[
        Path | None, typer.Option(help="A directory for platform and run.", show_default="a temporary one")
    ] = None,
) -> None:
    """See `_HELP`."""
    if plant is not None and plant not in PLANTS:
        raise typer.BadParameter(f"{plant!r} is none of {', '.join(PLANTS)}", param_hint="--plant")
    settings = RunSettings(
        run_id=new_run_id(),
        stage=STAGE,
        seed=new_seed() if seed is None else seed,
        requests=requests,
        keys=keys,
        tenants=tuple(one.id for one in load(ROOT / "tenants", STAGE).tenants if one.synthetic),
        rate=requests / seconds,
        burst=_BURST,
        users=_USERS,
        operations=tuple(BY_NAME),
        faults=True,
        skew_seconds=skew,
    )
    check_plan(settings)
    place = (home or Path(tempfile.mkdtemp(prefix="onceward-chaos-"))).resolve()
    typer.echo(f"chaos {settings.run_id}, seed {settings.seed}; {place}")
    code = Code(settings.seed, skew, () if plant is None else (PLANTS[plant],))
    try:
        outcome = run(Run(settings, place, code, _PATIENCE_SECONDS, typer.echo))
    except (LocalPlatformError, StormError, TargetError, NothingSaved, RecoveryFailed) as error:
        typer.echo(f"FAILED: the run did not come to its end: {error}", err=True)
        typer.echo(again(settings, place, plant, skew), err=True)
        raise typer.Exit(1) from error
    typer.echo("\n".join(lines(outcome)))
    if failures := judged(outcome):
        typer.echo("\n".join(f"FAILED: {failure}" for failure in failures))
        typer.echo(again(settings, place, plant, skew))
        raise typer.Exit(1)
    typer.echo(f"PASSED, seed {settings.seed}.")
    if home is None:
        shutil.rmtree(place)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    app.command(help=_HELP)(main)
    app(prog_name="python -m chaos")
