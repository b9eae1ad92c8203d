"""`make proof`: search for a counterexample, in the real code, at the full size.

Exit 0 only if every search is complete and none finds a broken promise, and every planted version is found.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from proof import figures, running, scenarios

_EXAMPLES = """examples:
  python -m proof                      everything, a line for each search (what make proof runs)
  python -m proof search               the searches of the code as it is
  python -m proof --write docs/proof.md   and put the figures into the page
"""
_PARTS = ("search",)


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m proof",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of: {', '.join(_PARTS)}; all by default")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this Markdown page")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(_PARTS))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)} (there are: {', '.join(_PARTS)})")
    began = time.monotonic()
    passed = [_RUN[part](options.write) for part in options.parts or _PARTS]
    print(f"\n{'PASSED' if all(passed) else 'FAILED'} in {time.monotonic() - began:.0f} s.")
    return 0 if all(passed) else 1


def _search(page: Path | None) -> bool:
    print(f"{len(scenarios.FULL)} searches of the code as it is; a line when each is done")
    reports = running.report_all(_tell)
    total = running.summed(reports)
    faults = ", ".join(f"{count:,} {name}" for name, count in sorted(total.faults.items()))
    print(f"\n{total.states:,} states, {total.schedules:,} schedules, {total.executions:,} runs of the code")
    print(f"faults tried: {sum(total.faults.values()):,} ({faults})")
    print(f"violations: {total.violations}")
    if total.story:
        print(f"\n{total.story}")
    if page is not None:
        figures.put(page, "search", figures.searches([*reports, total]))
    return all(one.passed for one in reports)


def _tell(report: running.Report, done: int, total: int) -> None:
    said = "no violation" if report.passed else ("VIOLATION" if report.violations else "NOT FINISHED")
    print(
        f"[{done}/{total}] {report.scenario}: {report.states:,} states, {report.schedules:,} schedules, "
        f"{sum(report.faults.values()):,} faults, {report.seconds:.0f} s: {said}",
        flush=True,
    )


_RUN = {"search": _search}

if __name__ == "__main__":
    sys.exit(main())
