"""Runs the Pulumi program once against the local AWS and then deletes what it no longer registers."""

import asyncio
import contextlib
import gc
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi.runtime

from ops.local.applier import Applier
from ops.local.clients import Clients
from ops.local.diff import Report, Step, deletion_order
from ops.local.errors import UpdateFailedError
from ops.local.invokes import Caller
from ops.local.monitor import Monitor, Program
from ops.local.resources.base import Provider
from ops.local.state import Entry, State
from ops.local.summary import UpdateSummary
from ops.local.urn import label_of

_GARBAGE_THRESHOLD = 100_000
"""Allocations between two collections while the program runs: with Python's 700 (2,000 from 3.12 on)
collecting the live Outputs again and again takes two thirds of the time."""


@dataclass(frozen=True)
class Inputs:
    """What a run needs of its surroundings."""

    program: Program
    configuration: Mapping[str, str]
    """Stack configuration: full keys (`onceward:audit`) to values as Pulumi passes them, text or JSON."""
    entry_point: Callable[[], None]
    providers: Mapping[str, Provider]


class _Steps:
    """Collects the steps as they are done, and passes them on to whoever shows them."""

    def __init__(self, report: Report) -> None:
        self._lock = threading.Lock()
        self._report = report
        self._done: dict[Step, list[str]] = {step: [] for step in Step}

    def __call__(self, step: Step, urn: str, changed: tuple[str, ...]) -> None:
        with self._lock:
            self._done[step].append(urn)
            self._report(step, urn, changed)

    def summary(self) -> UpdateSummary:
        done = {step: tuple(urns) for step, urns in self._done.items()}
        return UpdateSummary(
            created=done[Step.CREATE],
            updated=done[Step.UPDATE],
            replaced=done[Step.REPLACE],
            deleted=done[Step.DELETE],
            unchanged=done[Step.SAME],
        )


def run(inputs: Inputs, state: State, aws: Clients, report: Report) -> UpdateSummary:
    """Bring the local AWS to what the program registers; with `dry_run`, say what that would do.

    Raises UpdateFailedError for a resource that cannot be made, and whatever the program itself raises.
    The state holds what was done either way.
    """
    steps = _Steps(report)
    dry_run = inputs.program.dry_run
    applier = Applier(aws, state, inputs.providers, steps, dry_run=dry_run)
    monitor = Monitor(inputs.program, applier, Caller(aws.account, aws.region))
    if not dry_run:
        state.save()  # folds what an interrupted update left in the journal
    try:
        _execute(inputs, monitor)
        gone = [entry for urn, entry in state.entries.items() if urn not in monitor.registered]
        _refuse_protected(gone)
        for entry in deletion_order([*gone, *state.condemned]):
            if not dry_run:
                applier.delete(entry)
            if entry in gone:
                steps(Step.DELETE, entry.urn, ())
        for urn in sorted(applier.taken_down - monitor.registered - state.entries.keys()):
            steps(Step.DELETE, urn, ())
    except BaseException:
        if not dry_run:
            state.save()
        raise
    if not dry_run:
        state.save(dict(monitor.stack_outputs))
    return steps.summary()


def _refuse_protected(gone: list[Entry]) -> None:
    protected = [entry.urn for entry in gone if entry.protect]
    if protected:
        names = ", ".join(label_of(urn) for urn in protected)
        raise UpdateFailedError(f"protected, but no longer in the program: {names}")


def _execute(inputs: Inputs, monitor: Monitor) -> None:
    """Run the program as Pulumi's language host would: in its directory, with its configuration."""

    async def in_stack() -> None:
        asyncio.get_running_loop().set_exception_handler(_only_what_is_news)
        pulumi.runtime.configure(
            pulumi.runtime.Settings(
                project=inputs.program.project,
                stack=inputs.program.stack,
                monitor=monitor,
                dry_run=inputs.program.dry_run,
                root_directory=str(inputs.program.directory.parent),
                organization="organization",  # what `pulumi` itself says where there is none
            )
        )
        pulumi.runtime.set_all_config(dict(inputs.configuration), [])
        await pulumi.runtime.run_in_stack(inputs.entry_point)

    with contextlib.chdir(inputs.program.directory), _rare_collections(), _loud_outputs():
        asyncio.run(in_stack())


def _only_what_is_news(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Drop asyncio's note of each Output that will never have a value: the failure behind it is raised."""
    if "exception was never retrieved" not in context["message"]:
        loop.default_exception_handler(context)


@contextlib.contextmanager
def _rare_collections() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(_GARBAGE_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextlib.contextmanager
def _loud_outputs() -> Iterator[None]:
    """Make a string with an Output in it an error, where Pulumi would only put a warning into the string."""
    name = "PULUMI_ERROR_OUTPUT_STRING"
    before = os.environ.get(name)
    os.environ[name] = "true"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
