"""`onceward soak` (`make soak`): a long storm over many keys and tenants, in constant memory."""

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from loadtest.collect import AuditQueues
from loadtest.operations import BY_NAME
from loadtest.run import RunDirectory, RunSettings
from loadtest.target import Target, choose
from ops import soak_figures, storms
from ops.audit_drain import AuditDrain
from ops.commands.demo import alone, own_platform
from ops.commands.storm import (
    AsJson,
    Burst,
    Patience,
    Rate,
    Seed,
    Users,
    check_plan,
    new_run_id,
    new_seed,
    prepared,
    sent_to,
    storm_errors_told,
)
from ops.figures import put
from ops.local.platform import STAGE
from ops.memory import Growth
from ops.memory_watch import MemoryWatch, watch_judge
from ops.output import print_columns, print_json
from ops.soak_tenants import tenant_ids, write_tenants
from ops.stages import HOME, reach

# Issue 4: so many requests over so many keys and tenants, in under 40 minutes with all that belongs to it.
_REQUESTS: Final = 200_000
_KEYS: Final = 20_000
_TENANTS: Final = 20
# 200,000 requests in 31 minutes and a half (docs/adr/0103).
_RATE: Final = 106.0
# Sixteen users keep both cores busy where eight leave a quarter idle (60 requests a second, and 107 with
# sixteen): new keys make work for all functions, and a user waits for each. Four clients at one key, since a
# key that all of a burst's tenants use is as many new keys.
_USERS: Final = 16
_BURST: Final = 4
# The reconciler sends work again whose message was lost: it looks once a minute for what nobody touched for
# five. A soak is long enough to meet such a loss, and what is only late is no violation.
_PATIENCE_SECONDS: Final = 420.0
_HOME: Final = HOME / "soak"
# What the figures are called in the directory of the run.
_JSON, _MARKDOWN = "soak.json", "soak.md"

_EPILOG = """Examples:

onceward soak

onceward soak --requests 20000 --keys 2000

onceward soak --figures .onceward/soak/runs/3fa91c --write docs/proof.md
"""


Requests = Annotated[int, typer.Option(min=1, help="Requests in all.")]
Keys = Annotated[int, typer.Option(min=1, help="Idempotency keys in all.")]
Tenants = Annotated[int, typer.Option(min=2, max=999, help="How many synthetic tenants.")]
Home = Annotated[
    Path, typer.Option(help="The soak's own platform.", show_default=".onceward/soak", file_okay=False)
]
Keep = Annotated[bool, typer.Option("--keep", help="Leave the platform up afterwards.")]
Figures = Annotated[
    Path | None,
    typer.Option(help="Only print the figures of a soak's run as Markdown.", exists=True, file_okay=False),
]
Write = Annotated[
    Path | None,
    typer.Option(help="With --figures: put them into this page, between its marks `soak`.", exists=True),
]


def register(app: typer.Typer) -> None:
    """Add `soak` to the root command."""
    app.command(name="soak", epilog=_EPILOG)(command)


def command(
    requests: Requests = _REQUESTS,
    keys: Keys = _KEYS,
    tenants: Tenants = _TENANTS,
    rate: Rate = _RATE,
    seed: Seed = None,
    users: Users = _USERS,
    burst: Burst = _BURST,
    settle_seconds: Patience = _PATIENCE_SECONDS,
    home: Home = _HOME,
    keep: Keep = False,
    as_json: AsJson = False,
    figures: Figures = None,
    write: Write = None,
) -> None:
    """Send a long storm to a platform of its own with many tenants, judge it, and judge everyone's memory.

    Exit 0 only with no violation, and with constant memory in Locust, in the functions and in the judge:
    after the first tenth none of them may grow by more than its bound. The local AWS keeps all that it is
    given in memory; its growth is told, not judged. The figures go into soak.json and soak.md of the run's
    directory.
    """
    if figures is not None:
        _tell(_told_of(figures), write)
        return
    if write is not None:
        raise typer.BadParameter("name the soak's run with --figures", param_hint="--write")
    settings = _settings(requests, keys, tenants, rate, seed, users, burst)
    check_plan(settings)
    _soak(_Soak(settings, home, settle_seconds, as_json=as_json), home, tenants, keep=keep, as_json=as_json)


def _settings(
    requests: int, keys: int, tenants: int, rate: float, seed: int | None, users: int, burst: int
) -> RunSettings:
    return RunSettings(
        run_id=new_run_id(),
        stage=STAGE,
        seed=new_seed() if seed is None else seed,
        requests=requests,
        keys=keys,
        tenants=tenant_ids(tenants),
        rate=rate,
        burst=burst,
        users=users,
        operations=tuple(BY_NAME),
    )


def _soak(soak: "_Soak", home: Path, tenants: int, *, keep: bool, as_json: bool) -> None:
    """Run it on a platform of its own, and end the command with what came of it."""
    with alone(home, "soak"):
        write_tenants(home / "soak-tenants", tenants)
        with own_platform(home, home / "soak-tenants", keep=keep, quiet=as_json):
            found = soak.run(reach(STAGE, home))
    if as_json:
        print_json(found)
    if not (found["passed"] and found["constant"]):
        raise typer.Exit(1)


def _tell(text: str, page: Path | None) -> None:
    if page is None:
        typer.echo(text, nl=False)
        return
    try:
        put(page, "soak", text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--write") from error


def _told_of(directory: Path) -> str:
    file = directory / _JSON
    try:
        return soak_figures.markdown(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise typer.BadParameter(
            f"{file}: not the figures of a soak: {error}", param_hint="--figures"
        ) from error


@dataclass
class _Clock:
    """How long each part took, in minutes."""

    minutes: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)

    def end_of(self, part: str) -> None:
        now = time.monotonic()
        self.minutes[part] = (now - self.last) / 60
        self.last = now

    def all(self) -> dict[str, float]:
        return {**self.minutes, "in all": (self.last - self.began) / 60}


class _Soak:
    """One soak on a platform that is made after it: so its clock counts the bring-up, too."""

    def __init__(self, settings: RunSettings, home: Path, settle_seconds: float, *, as_json: bool) -> None:
        self._settings = settings
        self._home = home
        self._settle_seconds = settle_seconds
        self._as_json = as_json
        self._clock = _Clock()
        self._drained: dict[str, int] = {}
        self._load_before = os.getloadavg()[0]

    def run(self, target: Target) -> dict[str, Any]:
        """Send, judge, and write the figures down."""
        self._clock.end_of("bring-up")
        settings = self._settings = sent_to(target, self._settings, self._home)
        directory = prepared(target, settings, self._home / "runs" / settings.run_id)
        seconds = settings.requests / settings.rate
        self._say(
            f"Soak {settings.run_id}: {settings.requests:,} requests, {settings.keys:,} keys, "
            f"{len(settings.tenants)} tenants, at {settings.rate:g} a second: about {seconds / 60:.0f} min; "
            f"seed {settings.seed}"
        )
        watch = MemoryWatch(seconds)
        with storm_errors_told(directory, self._home):
            self._send(directory, target, watch)
        self._clock.end_of("sending")
        judge = self._judge(directory)
        self._clock.end_of("judging")
        return self._write_down(directory, [*watch.growths(settings.requests), judge])

    def _send(self, directory: RunDirectory, target: Target, watch: MemoryWatch) -> None:
        settings = self._settings
        tenants = choose(target, settings.tenants)
        drain = AuditDrain(AuditQueues(target, tenants, settings.key_prefix, directory.events))

        def look(sent: int) -> None:
            watch.look(sent)
            drain.look()

        storms.send(directory, settings, self._home, look, quiet=self._as_json)
        self._drained = drain.to_json()

    def _judge(self, directory: RunDirectory) -> Growth:
        """In a process of its own: what the judge holds is then told apart from what this one does."""
        words = ["verify", "--history", str(directory.path), "--home", str(self._home)]
        words += ["--settle-seconds", str(self._settle_seconds), *(["--json"] if self._as_json else [])]
        imports, judging = "from ops.cli import main", "main()"
        return watch_judge(imports, judging, words, self._settings.requests, quiet=self._as_json)

    def _write_down(self, directory: RunDirectory, growths: list[Growth]) -> dict[str, Any]:
        summary = json.loads(directory.summary.read_text()) if directory.summary.exists() else None
        machine = {
            "cores": os.cpu_count(),
            "loadBefore": round(self._load_before, 1),
            "loadAfter": round(os.getloadavg()[0], 1),
        }
        found = soak_figures.document(
            self._settings, summary, growths, self._clock.all(), machine, self._drained
        )
        (directory.path / _JSON).write_text(json.dumps(found, indent=2), encoding="utf-8")
        (directory.path / _MARKDOWN).write_text(soak_figures.markdown(found), encoding="utf-8")
        if not self._as_json:
            print_columns([soak_figures.MEMORY_HEAD, *map(soak_figures.memory_cells, found["memory"])])
        self._say(f"\n{soak_figures.conclusion(found)} Figures: {directory.path / _MARKDOWN}")
        return found

    def _say(self, line: str) -> None:
        if not self._as_json:
            typer.echo(line)
