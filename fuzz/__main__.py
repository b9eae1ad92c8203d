"""`python -m fuzz [TARGET ...] --seconds N --seed N`, or `python -m fuzz TARGET --input FILE`."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

from fuzz.campaign import WORK, Outcome, run, why_not
from fuzz.registry import TARGETS

# Enough for some ten thousand inputs of most targets; a whole run takes ten minutes then.
_SECONDS = 30


def main(arguments: list[str] | None = None) -> int:
    """Fuzz, or replay; 0 when every promise was kept, 1 when one was broken, 2 when nothing could be run."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Fuzz what reads others' input.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; else all")
    parser.add_argument(
        "--seconds", type=_at_least_one, default=_SECONDS, help="a target (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the mutations (default: %(default)s)")
    parser.add_argument("--input", type=Path, help="run this file alone, without atheris")
    asked = parser.parse_args(arguments)
    unknown = sorted(set(asked.targets) - set(TARGETS))
    if unknown or (asked.input and len(asked.targets) != 1):
        parser.error(f"no target {', '.join(unknown)}" if unknown else "--input needs one target")
    if asked.input:
        return _replay(asked.targets[0], asked.input)
    reason = why_not()
    if reason:
        sys.stderr.write(f"{reason}\n")
        return 2
    outcomes = []
    for name in asked.targets or TARGETS:
        outcomes.append(run(TARGETS[name], asked.seconds, asked.seed))
        _tell(outcomes[-1])
    broken = [one.target for one in outcomes if not one.passed]
    executions = sum(one.executions for one in outcomes)
    verdict = f"broken: {', '.join(broken)}" if broken else "no promise broken"
    sys.stdout.write(f"{executions} executions of {len(outcomes)} targets, seed {asked.seed}: {verdict}\n")
    return 1 if broken else 0


def _at_least_one(text: str) -> int:
    # libFuzzer takes 0 for "without end".
    if (seconds := int(text)) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return seconds


def _replay(name: str, path: Path) -> int:
    try:
        TARGETS[name].check(path.read_bytes())
    except Exception:  # noqa: BLE001 - whatever it is, it is what the file was kept for
        traceback.print_exc()
        return 1
    sys.stdout.write(f"{name}: {path} breaks nothing\n")
    return 0


def _tell(outcome: Outcome) -> None:
    ended = "killed: it did not end" if outcome.ended is None else f"exit {outcome.ended}"
    sys.stdout.write(
        f"{outcome.target:<12} {outcome.executions:>9} executions  {outcome.coverage:>5} places"
        f"  {outcome.features:>6} features  {outcome.corpus:>5} inputs kept"
        f"  {'fine' if outcome.passed else f'BROKEN ({ended})'}\n"
    )
    if not outcome.passed:
        sys.stdout.write(f"  see {WORK / outcome.target / 'log'}\n")
    for path in outcome.broken:
        sys.stdout.write(f"  replay: python -m fuzz {outcome.target} --input {path}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
