"""A run of the storm: its settings and the directory that holds everything about it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self, TextIO

# Of the files of a run: leads are in some of them, and nobody else's business.
_PRIVATE = 0o600
_FLAGS = {
    "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "w": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
}


PLAN_VERSION: Final = 2
"""Of what the same settings make. It goes up when they make another plan: the verdict compares a run's
history with the plan that is made today. 1: all at once; 2: in chapters (docs/adr/0103)."""

# Runs under faults that do not say how far clocks were off: by no more than chaos would set them then.
_UNTOLD_SKEW_SECONDS: Final = 180.0


def open_private(path: Path, mode: Literal["a", "w", "x"], buffering: int = -1) -> TextIO:
    """Open a text file; when that makes it, only its user may read it."""
    descriptor = os.open(path, _FLAGS[mode], _PRIVATE)
    return cast("TextIO", os.fdopen(descriptor, mode.replace("x", "w"), buffering, encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Everything that decides what a storm sends; the same settings make the same plan. Holds no secret.

    Attributes:
        run_id: starts every idempotency key of the run, so that its writes can be told from all others.
        stage: the Onceward stage that is stormed.
        seed: of the plan's randomness.
        requests: how many attempts in all.
        keys: how many idempotency keys in all (a key used by three tenants is one).
        tenants: ids, in order.
        rate: intended requests a second, over all workers.
        burst: how many clients send one key at the same moment.
        users: Locust users over all workers.
        workers: Locust worker processes; 0 means that one process does everything.
        api_url: of the platform that it is sent to, which alone can tell what came of it; None until that is
            known, and in runs older than this field.
        home: the local platform's directory, absolute; None on a deployed stage.
        operations: names, in the order of `loadtest.operations`; runs older than this field sent leads.
        faults: somebody injects faults while it is sent (`chaos`): single answers fail without a violation.
        skew_seconds: how far a worker's clock is off at most, to either side (`chaos` sets them so).
        plan_version: see `PLAN_VERSION`. Runs older than this field are of version 2 when they tell of
            faults, which came minutes before that version, and else of version 1.
    """

    run_id: str
    stage: str
    seed: int
    requests: int
    keys: int
    tenants: tuple[str, ...]
    rate: float
    burst: int
    users: int
    workers: int = 0
    api_url: str | None = None
    home: str | None = None
    operations: tuple[str, ...] = ("leads",)
    faults: bool = False
    skew_seconds: float = 0.0
    plan_version: int = PLAN_VERSION

    @property
    def key_prefix(self) -> str:
        """What every idempotency key of this run starts with."""
        return f"storm-{self.run_id}-"

    @property
    def shares(self) -> int:
        """Into how many parts the plan is dealt."""
        return max(1, self.workers)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Parse the content of `run.json`. Raises TypeError or KeyError on a missing or unknown name."""
        lists: dict[str, Any] = {
            name: tuple(values[name]) for name in ("tenants", "operations") if name in values
        }
        untold = {
            "plan_version": 2 if "faults" in values else 1,
            "skew_seconds": _UNTOLD_SKEW_SECONDS if dict(values).get("faults") else 0.0,
        }
        return cls(**{**untold, **values, **lists})

    def require_todays_plan(self) -> None:
        """Raises ValueError when the run was sent by another plan than these settings make now."""
        if self.plan_version != PLAN_VERSION:
            raise ValueError(
                f"run {self.run_id} was sent by version {self.plan_version} of the plan, and this is version "
                f"{PLAN_VERSION}: judge it with the code that sent it"
            )


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """The files of one run."""

    path: Path

    @classmethod
    def create(cls, path: Path, settings: RunSettings) -> Self:
        """Make the directory and write `run.json`.

        Raises:
            FileExistsError: there is a run there already (two histories in one place prove nothing).
        """
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open_private(path / "run.json", "x") as file:
            json.dump(asdict(settings), file, indent=2)
        return cls(path)

    def settings(self) -> RunSettings:
        """Read `run.json`.

        Raises:
            ValueError: there is none, or it is not a run's (names the file).
        """
        file = self.path / "run.json"
        try:
            return RunSettings.from_json(json.loads(file.read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            raise ValueError(f"{file}: no such file: is this the directory of a run?") from error
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"{file}: not a run's settings: {error}") from error

    def history(self, share: int) -> Path:
        """The history file of one worker."""
        return self.path / f"history-{share}.jsonl"

    @property
    def reads(self) -> Path:
        """The history of the reads that `loadtest.verify` makes."""
        return self.path / "history-reads.jsonl"

    @property
    def events(self) -> Path:
        """What was taken off the audit queues: a queue can be drained only once."""
        return self.path / "events.jsonl"

    @property
    def log(self) -> Path:
        """What the Locust processes said."""
        return self.path / "locust.log"

    @property
    def judging(self) -> Path:
        """Where a judge puts what it gathers; there only while it judges, or where one was killed."""
        return self.path / "judging"

    @property
    def verdict(self) -> Path:
        """The verdict as JSON."""
        return self.path / "verdict.json"

    @property
    def summary(self) -> Path:
        """The figures of the run and its verdict, as `--json` prints them."""
        return self.path / "summary.json"

    @property
    def metrics(self) -> Path:
        """The metrics that were collected of the platform meanwhile, if somebody did (`ops.observing`)."""
        return self.path / "metrics.sqlite"

    @property
    def report(self) -> Path:
        """The report for people."""
        return self.path / "report.html"
