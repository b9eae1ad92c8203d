"""Searches side by side, one a process, and what is said of each."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proof import scenarios
from proof.requests import unmeasured
from proof.search import search
from proof.telling import told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proof.scenario import Scenario

# A search is one busy process of up to a gigabyte: more than this many gain little on a laptop.
_MOST_PROCESSES = 4


@dataclass(frozen=True)
class Report:
    """What one search saw; see `search.Found`. `story`: a shortest schedule that breaks a promise."""

    scenario: str
    states: int
    schedules: int
    executions: int
    faults: dict[str, int]
    seconds: float
    complete: bool
    violations: int
    story: str

    @property
    def passed(self) -> bool:
        """Every state within the bounds was visited, and none breaks a promise."""
        return self.complete and not self.violations


def report(scenario: Scenario) -> Report:
    """Search, and say what was seen."""
    with unmeasured():
        found = search(scenario)
        story = told(found) if found.broken else ""
    return Report(
        scenario=found.scenario,
        states=found.states,
        schedules=found.schedules,
        executions=found.executions,
        faults={kind.name: count for kind, count in found.faults.items()},
        seconds=found.seconds,
        complete=found.complete,
        violations=len(found.broken),
        story=story,
    )


def report_all(tell: Callable[[Report, int, int], None]) -> list[Report]:
    """Search every scenario of `scenarios.FULL`; `tell` hears of each when it is done: (it, how many, of)."""
    total = len(scenarios.FULL)
    # Not forked: what this process has started (a progress bar's thread, say) is not theirs.
    context = multiprocessing.get_context("spawn")
    processes = min(_MOST_PROCESSES, os.cpu_count() or 1)
    reports: list[Report | None] = [None] * total
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        waiting = {pool.submit(_report_number, number): number for number in range(total)}
        for done, future in enumerate(as_completed(waiting), start=1):
            made = reports[waiting[future]] = future.result()
            tell(made, done, total)
    return [one for one in reports if one is not None]


def _report_number(number: int) -> Report:
    return report(scenarios.FULL[number]())


def summed(reports: Sequence[Report]) -> Report:
    """All of them as one."""
    faults: Counter[str] = Counter()
    for one in reports:
        faults.update(one.faults)
    return Report(
        scenario="all",
        states=sum(one.states for one in reports),
        schedules=sum(one.schedules for one in reports),
        executions=sum(one.executions for one in reports),
        faults=dict(faults),
        seconds=sum(one.seconds for one in reports),
        complete=all(one.complete for one in reports),
        violations=sum(one.violations for one in reports),
        story="\n\n".join(one.story for one in reports if one.story),
    )
