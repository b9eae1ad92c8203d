"""`make proof`: search for a counterexample, in the real code, at the full size.

Exit 0 only if every search is complete and none finds a broken promise, every planted version is found by its
smallest schedule, and the random schedules find nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ops.figures import put
from proof import deeper, figures, peer, planted, running, scenarios
from proof.planted import report as planted_report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from proof.planted.report import Finding
    from proof.search import Found

# Walks of the last part: half a minute of them. Another seed walks other ways.
_WALKS: Final = 2_000
_SEED: Final = 7

_EXAMPLES = """examples:
  python -m proof                      everything, a line for each search (what make proof runs)
  python -m proof search               the searches of the code as it is
  python -m proof planted --only read-then-write
                                       one planted version, and its smallest schedule move by move
  python -m proof deeper --walks 20000 --seed 8
                                       other random schedules than make proof's, and more
  python -m proof --write docs/proof.md
                                       everything, and its tables put into the page
"""


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m proof",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of: {', '.join(_RUN)}; all by default")
    parser.add_argument("--only", metavar="NAME", help="of the planted versions, this one")
    parser.add_argument("--walks", type=int, help=f"random schedules of `deeper` ({_WALKS:,} by default)")
    parser.add_argument("--seed", type=int, help=f"of `deeper` ({_SEED} by default)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this Markdown page")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(_RUN))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)} (there are: {', '.join(_RUN)})")
    wrong = _misused(options)
    if wrong:
        parser.error(wrong)
    if options.only is not None:
        return 0 if _one(options.only) else 1
    options.walks = _WALKS if options.walks is None else options.walks
    options.seed = _SEED if options.seed is None else options.seed
    began = time.monotonic()
    passed = [_RUN[part](options) for part in options.parts or _RUN]
    print(f"\n{'PASSED' if all(passed) else 'FAILED'} in {time.monotonic() - began:.0f} s.")
    return 0 if all(passed) else 1


def _misused(options: argparse.Namespace) -> str:
    """What is wrong with the options together; empty where nothing is. None of them is ignored."""
    of_walks = options.walks is not None or options.seed is not None
    if options.only is not None:
        names = [one.name for one in planted.ALL]
        if options.only not in names:
            return f"no such planted version: {options.only} (there are: {', '.join(names)})"
        if set(options.parts) - {"planted"} or of_walks or options.write is not None:
            return "--only is for planted, and alone"
    if of_walks and options.parts and "deeper" not in options.parts:
        return "--walks and --seed are for deeper"
    none = options.walks is not None and options.walks < 1
    return "--walks is a number of 1 or more" if none else ""


def _search(options: argparse.Namespace) -> bool:
    print(f"{len(scenarios.FULL)} searches of the code as it is; a line when each is done")
    began = time.monotonic()
    reports = running.report_all(_tell)
    total = running.summed(reports)
    faults = ", ".join(f"{count:,} {name}" for name, count in sorted(total.faults.items()))
    print(f"\n{total.states:,} states, {total.schedules:,} schedules, {total.executions:,} runs of the code")
    print(f"faults tried: {sum(total.faults.values()):,} ({faults})")
    print(f"{time.monotonic() - began:.0f} s; {total.seconds:.0f} s of the searches, some of them at once")
    # A search ends at the first schedule that breaks anything: how many others do so is not known.
    found = sum(one.violations > 0 for one in reports)
    print(f"{found} of {len(reports)} searches found a schedule that breaks a promise")
    if total.story:
        print(f"\n{total.story}")
    if options.write is not None:
        put(options.write, "search", figures.searches([*reports, total]))
    return all(one.passed for one in reports)


def _tell(report: running.Report, done: int, total: int) -> None:
    said = "no violation" if report.passed else ("VIOLATION" if report.violations else "NOT FINISHED")
    print(
        f"[{done}/{total}] {report.scenario}: {report.states:,} states, {report.schedules:,} schedules, "
        f"{sum(report.faults.values()):,} faults, {report.seconds:.0f} s: {said}",
        flush=True,
    )


def _planted(options: argparse.Namespace) -> bool:
    print(f"\n{len(planted.ALL)} planted versions, which the same search has to find")
    made = planted_report.findings(planted.ALL, _tell_finding)
    if options.write is not None:
        put(options.write, "planted", planted_report.table(made))
        # Beside it: some hundred of them, a page of their own.
        schedules = options.write.with_name(f"{options.write.stem}-schedules.md")
        put(schedules, "planted-schedules", planted_report.schedules(made))
    return all(one.passed for one in made)


def _tell_finding(finding: Finding) -> None:
    print(f"\n{finding.line()}\n{finding.planted.what}\n{finding.story}", flush=True)


def _one(name: str) -> bool:
    finding = planted_report.finding(next(one for one in planted.ALL if one.name == name))
    print(f"{finding.planted.what}\n\n{finding.story}\n\n{finding.line()}")
    return finding.passed


def _peer(options: argparse.Namespace) -> bool:
    print("\nThe same search over Powertools' idempotency utility, and over Onceward within the same bounds")
    try:
        made = peer.table(_tell_found)
    except peer.Unkept as unkept:
        print(f"\nA search of Onceward:\n{unkept}")
        return False
    print(f"\n{made}")
    if options.write is not None:
        put(options.write, "peer", made)
    return True  # what the peer breaks is no fault of ours


def _tell_found(found: Found) -> None:
    said = "nothing broken" if found.complete else f"broken by {len(found.moves)} moves"
    print(f"{found.scenario}: {found.states:,} states, {said}", flush=True)


def _deeper(options: argparse.Namespace) -> bool:
    print(f"\n{options.walks:,} random schedules, deeper than the searches go (seed {options.seed})")
    walked = deeper.run(options.walks, options.seed)
    faults = ", ".join(f"{count:,} {kind.name}" for kind, count in walked.faults.most_common())
    said = (
        f"{walked.walks:,} walks ({walked.different:,} different), {walked.moves:,} moves, "
        f"{sum(walked.faults.values()):,} faults ({faults}), at most {walked.most_faults} in one walk: "
        f"{'no violation' if walked.passed else 'VIOLATION'}"
    )
    print(said)
    if walked.story:
        print(f"\n{walked.story}")
    if options.write is not None:
        put(options.write, "deeper", f"Seed {options.seed}: {said}.")
    return walked.passed


_RUN: Final[Mapping[str, Callable[[argparse.Namespace], bool]]] = {
    "search": _search,
    "planted": _planted,
    "peer": _peer,
    "deeper": _deeper,
}

if __name__ == "__main__":
    sys.exit(main())
