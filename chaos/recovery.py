"""What an operator does after an outage, with the runbook's commands: counted, and told in the report."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from ops.dead_letters import DELIVERY, SOURCES
from ops.stages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_ONCEWARD: Final = (sys.executable, "-c", "from ops.cli import main; main()")
# A command looks at a few hundred items on loopback; this is one that hangs.
_SECONDS: Final = 120.0
# Longer than any run.
_SINCE: Final = "2h"
REDRIVEN: Final = tuple(name for name in SOURCES if name != DELIVERY)
"""The dead-letter queues that `onceward dlq redrive` sends back from."""


class RecoveryFailed(Exception):
    """An operator's command did not do what it is for; says which, and what it said."""


def replay(home: Path, *, republish: bool = False) -> int:
    """`onceward dispatch replay`: how many receipts without a record it queued again.

    With `republish`, also those that have one: their events come again. Raises RecoveryFailed.
    """
    words = ["dispatch", "replay", "--since", _SINCE, *(["--republish"] if republish else [])]
    return int(_run(home, words)["queued"])


def redrive(home: Path, queues: Iterable[str]) -> dict[str, int]:
    """`onceward dlq redrive` of each of the queues: how many letters it sent back. Raises RecoveryFailed."""
    return {name: int(_run(home, ["dlq", "redrive", name, "--yes"])["sent"]) for name in queues}


def left(home: Path) -> dict[str, int]:
    """`onceward dlq list`: how many letters are in each dead-letter queue. Raises RecoveryFailed."""
    return {one["queue"]: int(one["looked"]) for one in _run(home, ["dlq", "list"])}


def _run(home: Path, words: list[str]) -> Any:  # noqa: ANN401 - what a command prints as JSON
    command = [*_ONCEWARD, *words, "--home", str(home), "--json"]
    done = subprocess.run(  # noqa: S603 - our own command, no shell
        command, cwd=ROOT, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    if done.returncode:
        raise RecoveryFailed(f"onceward {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)
