"""`make test`: all tests in five parts, which run beside each other where they can (docs/adr/0110).

Each part is a run of pytest with a log in build/test; the last lines are the closing line of each.

usage: python -m tests.parts [pytest options]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT: Final = Path(__file__).resolve().parents[1]
LOGS: Final = ROOT / "build" / "test"
# As a shell says it of a command that Ctrl-C has ended.
_INTERRUPTED: Final = 130
_GROUP: Final = r"mark\.xdist_group\(\"([^\"]+)\"\)"


@dataclass(frozen=True)
class Part:
    """One run of pytest.

    Attributes:
        name: of its log. what: for people.
        marks: which tests, as `-m` takes it. Each test is in one part: tests/unit/test_parts.py looks.
        below: where they are. holding: only files that match this are collected, since a process of the
            tests imports all that it collects. not_holding: and none that matches this.
        processes: pytest-xdist's; 0: this one alone; None: one for each of its groups.
        share: how tests are shared out among them (`--dist`).
        niceness: what others on the machine go before it by.
    """

    name: str
    what: str
    marks: str
    below: tuple[str, ...] = ("tests",)
    holding: str = ""
    not_holding: str = r"(?!)"
    processes: int | None = 0
    share: str = "load"
    niceness: int = 0

    def files(self) -> list[Path]:
        """What is collected, below the repository; browsers, which have seconds for a page, come last.

        In the first minute of a run every storm brings its platform up, and little is left of the machine.
        """
        return sorted((path for path, _ in self._collected()), key=lambda path: ("e2e" in path.parts, path))

    def command(self, options: Sequence[str]) -> list[str]:
        """The run. `options`: more for pytest."""
        nice = ["nice", "-n", str(self.niceness)] if self.niceness else []
        processes = self._groups() if self.processes is None else self.processes
        shared = ["--dist", self.share] if processes else []
        pytest = [sys.executable, "-m", "pytest", "-q", "-n", str(processes), *shared, "-m", self.marks]
        return [*nice, *pytest, *options, *map(str, self.files())]

    def _collected(self) -> Iterator[tuple[Path, str]]:
        for directory in self.below:
            for path in (ROOT / directory).rglob("test_*.py"):
                text = path.read_text(encoding="utf-8")
                if re.search(self.holding, text) and not re.search(self.not_holding, text, re.MULTILINE):
                    yield path.relative_to(ROOT), text

    def _groups(self) -> int:
        return len({group for _, text in self._collected() for group in re.findall(_GROUP, text)})


# It waits for leases of dead workers, and for lost messages to come back. Each group has a process of its
# own: in that of another it would wait for that one too.
CHAOS: Final = Part(
    "chaos",
    "storms under faults, all at once",
    "chaos",
    below=("tests/e2e",),
    holding=r"mark\.chaos\b",
    processes=None,
    share="loadgroup",
)
# A storm follows its plan's clock, and settles: it works for half of its time. Each group has a platform of
# its own.
STORMS: Final = Part(
    "storms",
    "storms, three at a time",
    "storm and not chaos",
    below=("tests/e2e", "tests/integration"),
    holding=r"mark\.storm\b",
    not_holding=r"mark\.chaos\b",
    processes=3,
    share="loadgroup",
)
# They wait as much as they work: a platform for each of two processes, and a file's tests stay together.
PLATFORM: Final = Part(
    "platform",
    "tests on the local AWS, two files at a time",
    "platform and not storm and not alone",
    below=("tests/contract", "tests/e2e", "tests/integration"),
    not_holding=r"^pytestmark = .*mark\.(storm|alone)\b",
    processes=2,
    share="loadfile",
)
# They work, and little of them is in a hurry: the others go before, three to one (that is a niceness of 5;
# with 10 it would be ten to one, and a browser's seconds might not be enough).
PARALLEL: Final = Part(
    "parallel",
    "unit, contract, infrastructure and browser tests",
    "not platform",
    not_holding=r"^pytestmark = .*mark\.platform\b",
    processes=2,
    niceness=5,
)
ALONE: Final = Part(
    "alone",
    "bursts, one at a time: they need the machine to themselves",
    "alone",
    below=("tests/e2e", "tests/integration"),
    holding=r"mark\.alone\b",
)
# What is in one row runs beside the rest of its stage; a stage waits for the one before it.
STAGES: Final = (((CHAOS,), (STORMS, PLATFORM), (PARALLEL,)), ((ALONE,),))
PARTS: Final = tuple(part for stage in STAGES for row in stage for part in row)


class Run:
    """The run of all parts."""

    def __init__(self, options: Sequence[str]) -> None:
        self._options = options
        self._ended: dict[str, int] = {}
        self._interrupted = threading.Event()
        self._began = time.monotonic()

    def all(self) -> int:
        """Run every part, whatever becomes of the others. The exit code: 0 only when all passed."""
        LOGS.mkdir(parents=True, exist_ok=True)
        try:
            for stage in STAGES:
                self._stage(stage)
        except KeyboardInterrupt:
            return _INTERRUPTED  # pytest was interrupted by the terminal as well, and has cleaned up
        print("== summary")
        for part in PARTS:
            print(f"{part.name:<9} exit {self._ended[part.name]}: {_last_line(LOGS / f'{part.name}.log')}")
        return 1 if any(self._ended.values()) else 0

    def _stage(self, rows: Sequence[Sequence[Part]]) -> None:
        with ThreadPoolExecutor(len(rows)) as pool:
            running = [pool.submit(self._row, row) for row in rows]
            try:
                for one in running:
                    one.result()
            except KeyboardInterrupt:
                self._interrupted.set()
                raise

    def _row(self, row: Sequence[Part]) -> None:
        for part in row:
            if not self._interrupted.is_set():
                self._ended[part.name] = self._part(part)

    def _part(self, part: Part) -> int:
        """pytest, shown and logged; its exit code."""
        self._say(part, f"== {part.what}")
        with (
            (LOGS / f"{part.name}.log").open("w", encoding="utf-8") as log,
            subprocess.Popen(
                part.command(self._options),
                cwd=ROOT,
                env=_environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            ) as running,
        ):
            assert running.stdout is not None
            for line in running.stdout:
                log.write(line)
                log.flush()
                self._say(part, line.rstrip("\n"))
        self._say(
            part, f"== exit {running.returncode} after {time.monotonic() - self._began:.0f} s of the run"
        )
        return running.returncode

    def _say(self, part: Part, line: str) -> None:
        # In one piece: another part may be saying something too.
        sys.stdout.write(f"{part.name:<8} | {line}\n")
        sys.stdout.flush()


def _environment() -> dict[str, str]:
    """Ours, but that modules are compiled once, and not by every process of the tests that imports them."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8").splitlines()
    return lines[-1] if lines else ""


if __name__ == "__main__":
    # The log is a file, so pytest would leave its colours out on a terminal too.
    colours = ["--color=yes"] if sys.stdout.isatty() else []
    sys.exit(Run([*sys.argv[1:], *colours]).all())
