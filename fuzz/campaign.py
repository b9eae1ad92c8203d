"""Runs targets one after the other, each for some seconds, and tells what came of it."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fuzz.registry import inputs

if TYPE_CHECKING:
    from fuzz.target import Target

WORK: Final = Path("build/fuzz")
"""Corpora that grew, logs, and inputs that broke something: kept from run to run, not committed."""

# One input may take this long, seconds: the slowest takes a tenth of a second, and a hang takes for ever.
_HANG_SECONDS: Final = 10
# The largest input that is made, bytes: beyond it mutations mostly miss; sizes are tested elsewhere.
_MAX_BYTES: Final = 4096
# The first imports and the end of a run, beside its seconds; then the process is taken for hung.
_SLACK_SECONDS: Final = 120
_STATUS: Final = re.compile(r"#(\d+)\s+\w+\s+cov: (\d+) ft: (\d+)")


@dataclass(frozen=True)
class Outcome:
    """What one target did.

    Attributes:
        coverage: places in the instrumented code that its inputs have reached.
        broken: inputs that broke a promise in this run, also those that an earlier run had kept.
        ended: how the process ended; None of one that had to be killed.
    """

    target: str
    executions: int
    coverage: int
    features: int
    corpus: int
    broken: tuple[Path, ...]
    ended: int | None

    @property
    def passed(self) -> bool:
        """Whether it ran to its end, something was tried, and every promise was kept."""
        return self.ended == 0 and self.executions > 0 and not self.broken


def why_not() -> str | None:
    """Why there can be no guided fuzzing here; None when there can."""
    if find_spec("atheris") is None:
        return (
            "atheris is not installed. It has wheels for Linux on x86-64 and Python 3.11 to 3.13 only; there,"
            " `make fuzz` installs it from fuzz/atheris.lock. Elsewhere `make test` still runs every target's"
            " seeds and Hypothesis's inputs, and `python -m fuzz TARGET --input FILE` replays a file."
        )
    return None


def run(target: Target, seconds: int, seed: int) -> Outcome:
    """Fuzz one target for so many seconds."""
    corpus, broken = WORK / target.name / "corpus", WORK / target.name / "broken"
    for folder in (corpus, broken):
        folder.mkdir(parents=True, exist_ok=True)
    before = _written(broken)
    for each in inputs(target):
        (corpus / hashlib.sha256(each).hexdigest()[:16]).write_bytes(each)
    options = [
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        f"-timeout={_HANG_SECONDS}",
        f"-max_len={_MAX_BYTES}",
        f"-artifact_prefix={broken}/",
        str(corpus),
    ]
    log = WORK / target.name / "log"
    ended = _ended([target.name, *options], log, seconds + _SLACK_SECONDS)
    status = _STATUS.findall(log.read_text(encoding="utf-8", errors="replace"))
    executions, coverage, features = map(int, status[-1]) if status else (0, 0, 0)
    # The same input breaks the same promise under the same name: it is written anew, and has to be told anew.
    new = tuple(path for path, at in sorted(_written(broken).items()) if before.get(path) != at)
    return Outcome(target.name, executions, coverage, features, len(list(corpus.iterdir())), new, ended)


def _ended(arguments: list[str], log: Path, limit_seconds: int) -> int | None:
    with log.open("wb") as output:
        try:
            return subprocess.run(  # noqa: S603 - this Python and our own names
                [sys.executable, "-m", "fuzz.guided", *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=limit_seconds,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:  # the process is killed by now, and its log is there
            return None


def _written(folder: Path) -> dict[Path, int]:
    """When each file was last written, nanoseconds."""
    return {path: path.stat().st_mtime_ns for path in folder.iterdir()}
