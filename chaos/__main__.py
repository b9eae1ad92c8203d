"""`make chaos`: a storm under injected faults, on a local platform of its own."""

from __future__ import annotations

import shutil
import tempfile
import traceback
from pathlib import Path
from typing import Annotated

import typer

from chaos import page
from chaos.functions import MOST_SKEW_SECONDS, SKEW_SECONDS, Code
from chaos.outcome import Outcome
from chaos.plants import PLANTS
from chaos.report import again, judged, lines
from chaos.run import Run, run
from chaos.tally import Tally
from loadtest.operations import BY_NAME
from loadtest.run import RunSettings
from ops.commands.storm import check_plan, new_run_id, new_seed
from ops.local.platform import STAGE
from ops.stages import ROOT
from tenants.loader import load

# Three to four minutes on two cores: half of it the storm, the rest the platform, the restart, and the wait
# for leases that skewed clocks left. Each kind of fault is met dozens of times by then, kills about ten.
REQUESTS, KEYS, SECONDS = 2_500, 120, 120.0
# Fewer at once than in the demo: each client at once is a cold worker, and here all start cold three times
# (with skewed clocks, after the restart, and when they are as they were again).
_USERS, _BURST = 4, 3
# When a run is judged its queues are empty, the retry queue too, and no fault is injected any more: what may
# be missing then is in a batch of the stream, which dispatch is given again about once a second.
_PATIENCE_SECONDS = 30.0

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
    write: Annotated[
        Path | None, typer.Option(help="A page with a part marked `chaos`: the run becomes a row there.")
    ] = None,
) -> None:
    """See `_HELP`."""
    if plant is not None and plant not in PLANTS:
        raise typer.BadParameter(f"{plant!r} is none of {', '.join(PLANTS)}", param_hint="--plant")
    place = _empty(home)
    settings = settings_of(new_seed() if seed is None else seed, requests, keys, seconds, skew)
    check_plan(settings)
    typer.echo(f"chaos {settings.run_id}, seed {settings.seed}; {place}")
    code = Code(settings.seed, skew, None if plant is None else PLANTS[plant])
    outcome = Outcome(Tally(place / "faults.log"))
    try:
        run(Run(settings, place, code, _PATIENCE_SECONDS, typer.echo), outcome)
        failures = judged(outcome, skew)
    except typer.Exit as error:
        failures = [f"the storm was not sent: exit {error.exit_code}"]
    except Exception as error:  # noqa: BLE001 - whatever it is, how to repeat the run must be said
        failures = [f"the run did not come to its end: {type(error).__name__}: {error}"]
        (place / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
    finally:
        outcome.tally.close()
    typer.echo("\n".join(lines(outcome)))
    if write is not None:
        page.write(write, page.row(settings, outcome, plant, failures))
    if failures:
        typer.echo("\n".join(f"FAILED: {failure}" for failure in failures))
        typer.echo(again(settings, place, plant, skew))
        raise typer.Exit(1)
    typer.echo(f"PASSED, seed {settings.seed}.")
    if home is None:
        shutil.rmtree(place)


def settings_of(seed: int, requests: int, keys: int, seconds: float, skew: int) -> RunSettings:
    """The storm of a run: over all operations and all tenants that are made for storms."""
    return RunSettings(
        run_id=new_run_id(),
        stage=STAGE,
        seed=seed,
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


def _empty(home: Path | None) -> Path:
    """The directory of the run. One that holds anything is refused: a run begins by wiping its platform."""
    if home is None:
        return Path(tempfile.mkdtemp(prefix="onceward-chaos-")).resolve()
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise typer.BadParameter(f"{home} is not empty; name a new directory", param_hint="--home")
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home.resolve()


if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    app.command(help=_HELP)(main)
    app(prog_name="python -m chaos")
