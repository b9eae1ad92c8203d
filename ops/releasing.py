"""The work of `onceward release`: say what is due, start it, follow it, say how it ended."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import typer

from infra.naming import ALIAS
from ops.output import print_json
from ops.release import ENDED, SUCCEEDED, NotStarted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ops.release import How, Progress, Releases, Step

POLL_SECONDS = 10.0
"""A canary takes minutes: often enough to watch, and far from CodeDeploy's request limits."""
_INTERRUPTED: Final = 130
"""128 + SIGINT (2): the exit code of a command that Ctrl-C ended, by the shells' convention."""
_NOT_STARTED: Final = "NotStarted"


@dataclass(slots=True)
class _Run:
    """One function's release: `deployment` is None where CodeDeploy did not take it."""

    step: Step
    status: str
    deployment: str | None = None
    reason: str | None = None
    alarms: tuple[str, ...] = ()
    weights: dict[str, int] | None = None


def release(
    releases: Releases,
    waves: Sequence[Sequence[Step]],
    how: How,
    *,
    as_json: bool,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Release what is due, wave by wave, and follow it to its end.

    A wave is started when all of the one before has succeeded: the functions of a later one take in what only
    new versions of the earlier ones can handle. Exit code 1 when anything did not succeed.
    """
    say: Callable[[str], None] = (lambda _line: None) if as_json else typer.echo
    for step in (step for wave in waves for step in wave if not step.is_due):
        say(f"{step.function}: nothing to do, {ALIAS} is at {step.current}, the newest")
    runs: list[_Run] = []
    try:
        for wave in waves:
            runs += _wave(releases, [step for step in wave if step.is_due], runs, how, say, sleep)
    except KeyboardInterrupt:
        typer.echo(
            "Not followed any more. The deployments go on, and roll back on an alarm as before; what was not "
            "started is not: run it again.",
            err=True,
        )
        raise typer.Exit(_INTERRUPTED) from None
    if as_json:
        print_json([_plain(run) for run in runs])
    if any(run.status != SUCCEEDED for run in runs):
        raise typer.Exit(1)


def _wave(
    releases: Releases,
    due: Sequence[Step],
    before: Sequence[_Run],
    how: How,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> list[_Run]:
    failed = [run.step.function for run in before if run.status != SUCCEEDED]
    if failed:
        reason = f"it would take in what {', '.join(failed)} cannot handle yet"
        return [_not_started(step, reason) for step in due]
    runs = [_started(releases, step, how, say) for step in due]
    _follow(releases, runs, say, sleep)
    return runs


def _not_started(step: Step, reason: str) -> _Run:
    typer.echo(f"{step.function}: not started: {reason}", err=True)
    return _Run(step, _NOT_STARTED, reason=reason)


def _started(releases: Releases, step: Step, how: How, say: Callable[[str], None]) -> _Run:
    try:
        deployment = releases.start(step, how)
    except NotStarted as error:
        return _not_started(step, str(error))
    say(f"{step.function}: {ALIAS} {step.current} -> {step.target}, deployment {deployment}")
    return _Run(step, "Created", deployment)


def _follow(
    releases: Releases, runs: Sequence[_Run], say: Callable[[str], None], sleep: Callable[[float], None]
) -> None:
    while True:
        under_way = [run for run in runs if run.deployment is not None and run.status not in ENDED]
        for run in under_way:
            assert run.deployment is not None
            _update(run, releases.progress(run.step, run.deployment), say)
        if all(run.status in ENDED for run in under_way):
            return
        sleep(POLL_SECONDS)


def _update(run: _Run, found: Progress, say: Callable[[str], None]) -> None:
    if (found.status, found.weights) != (run.status, run.weights):
        shares = ", ".join(f"{percent} % of the calls to {one}" for one, percent in found.weights.items())
        say(f"{run.step.function}: {found.status}, {shares}")
    run.status, run.weights, run.reason, run.alarms = found.status, found.weights, found.reason, found.alarms
    if found.reason is None:
        return
    typer.echo(f"{run.step.function}: did not succeed: {found.reason}", err=True)
    if found.alarms:
        typer.echo(f"{run.step.function}: alarms that ring: {', '.join(found.alarms)}", err=True)
    left = "is at" if set(found.weights) == {run.step.current} else "is NOT back at"
    typer.echo(f"{run.step.function}: {ALIAS} {left} {run.step.current}", err=True)


def _plain(run: _Run) -> dict[str, Any]:
    return {
        "function": run.step.function,
        "from": run.step.current,
        "to": run.step.target,
        "deployment": run.deployment,
        "status": run.status,
        "reason": run.reason,
        "alarms": list(run.alarms),
    }
