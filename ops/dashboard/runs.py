"""Where the metrics of runs that are over are found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ops.observing.kept_files import ALARMS, DASHBOARDS, METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable

_DEMO: Final = "demo"
"""The demo's own home, inside the usual one (`ops.commands.demo`)."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files that a demo or a storm leaves for the dashboards (`ops.observing.keeping`)."""

    directory: Path

    @property
    def metrics(self) -> Path:
        """The metrics that were collected."""
        return self.directory / METRICS

    @property
    def alarms(self) -> Path:
        """The definitions of the alarms."""
        return self.directory / ALARMS

    def bodies(self) -> dict[str, str]:
        """The dashboards' bodies by name, sorted by it. A byte that is not UTF-8 becomes U+FFFD."""
        files = sorted((self.directory / DASHBOARDS).glob("*.json"))
        return {file.stem: file.read_text(encoding="utf-8", errors="replace") for file in files}

    def lacks(self) -> str:
        """Why there is nothing to draw, for people."""
        if not self.metrics.is_file():
            return f"{self.metrics}: no such file: no metrics were kept"
        return f"{self.directory / DASHBOARDS}: no such directory: no dashboards were kept"

    def there(self) -> bool:
        """Whether there is something to draw."""
        return self.metrics.is_file() and (self.directory / DASHBOARDS).is_dir()


def homes(home: Path) -> tuple[Path, ...]:
    """The homes to look in: the given one, and the demo's inside it."""
    return (home, home / _DEMO)


def newest(home: Path) -> RunFiles | None:
    """The run that was kept last, in the home or in the demo's; None if none was."""
    kept = [run for each in homes(home) for run in _runs(each) if run.there()]
    return max(kept, key=lambda run: run.metrics.stat().st_mtime, default=None)


def named(run: str, home: Path) -> RunFiles | None:
    """The run of that id in the home or the demo's, or in that directory; None if none there has metrics."""
    return next((each for each in _places(run, home) if each.there()), None)


def begun(run: str, home: Path) -> RunFiles | None:
    """As `named`, of a run that may lack some of its files; None if it has no directory."""
    there = (each for each in _places(run, home) if each.directory.is_dir())
    return named(run, home) or next(there, None)


def _places(run: str, home: Path) -> list[RunFiles]:
    return [RunFiles(place) for place in (*(each / "runs" / run for each in homes(home)), Path(run))]


def ids(home: Path) -> list[str]:
    """The ids of the runs that have metrics, newest first."""
    kept = [run for each in homes(home) for run in _runs(each) if run.there()]
    kept.sort(key=lambda run: run.metrics.stat().st_mtime, reverse=True)
    return [run.directory.name for run in kept]


def going_on(home: Path) -> Path | None:
    """The directory of the storm that is being sent to the home's platform or being judged; None of none.

    One whose verdict is there (`summary.json`) is over, and one from before the platform was up is another's.
    A platform that has gone down has none: its `local.json` goes first.
    """
    try:
        up = (home / "local.json").stat().st_mtime
    except FileNotFoundError:
        return None
    begun = [
        path
        for path in (home / "runs").glob("*/run.json")
        if path.stat().st_mtime > up and not (path.parent / "summary.json").exists()
    ]
    newest = max(begun, key=lambda path: path.stat().st_mtime, default=None)
    return None if newest is None else newest.parent


def _runs(home: Path) -> Iterable[RunFiles]:
    return (RunFiles(path) for path in (home / "runs").glob("*") if path.is_dir())
