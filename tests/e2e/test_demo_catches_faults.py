"""The demo on a platform whose source was broken on purpose: it must exit 1 and name violation and key.

Each case copies the repository's program into a directory of its own, changes one place in `handlers`, and
runs `onceward demo` there, small. The unchanged copy passes: what fails the others is the change alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.platform

_ROOT = Path(__file__).resolve().parents[2]
# All that `onceward demo` reads of the repository.
_DIRECTORIES = ("bundle", "handlers", "infra", "loadtest", "ops", "tenants", "web")
_FILES = ("Pulumi.yaml", "Pulumi.local.yaml", "Pulumi.dev.yaml", "Pulumi.prod.yaml", "pyproject.toml")
_DEMO = [sys.executable, "-c", "from ops.cli import main; main()", "demo", "--json"]
_SMALL = ["--requests", "300", "--keys", "20", "--seed", "3", "--settle-seconds", "8"]
# Four bundles to zip, 200 resources to make, a storm of seconds: a minute on 2 idle cores.
_SECONDS = 420


@dataclass(frozen=True)
class Fault:
    """One change to the source: in `file`, the text `good` becomes `bad`; and what must come of it."""

    file: str
    good: str
    bad: str
    kinds: frozenset[str]


UNCONDITIONAL_PUT = Fault(
    "handlers/adapters/receipts.py",
    'f"{_NOBODY} OR (',
    'f"{_NOBODY} OR attribute_exists(pk) OR (',
    frozenset({"second-write", "second-record", "second-event"}),
)
DROPPED_DISPATCH = Fault(
    "handlers/dispatch.py",
    'if not is_due(image, change.get("OldImage")):',
    'if not is_due(image, change.get("OldImage")) or image["pk"]["S"].endswith("7"):',
    frozenset({"lost-record", "lost-event"}),
)
CHANGED_BYTE = Fault(
    "handlers/http.py",
    '"body": response.body or ""',
    '"body": (response.body or "").replace("score", "Score", 1 if replayed else 0)',
    frozenset({"replay-body"}),
)


def _copy(target: Path, fault: Fault | None) -> Path:
    for name in _DIRECTORIES:
        shutil.copytree(_ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy(_ROOT / name, target / name)
    wheels = _ROOT / ".onceward" / "bundles" / "wheels"
    if wheels.is_dir():  # what the functions depend on is not changed, and need not be fetched again
        shutil.copytree(wheels, target / ".onceward" / "bundles" / "wheels", symlinks=True)
    if fault is not None:
        source = (target / fault.file).read_text()
        assert source.count(fault.good) == 1, f"{fault.file} has changed: plant this fault anew"
        (target / fault.file).write_text(source.replace(fault.good, fault.bad))
    return target


def _demo(directory: Path) -> tuple[int, dict[str, Any]]:
    """Run the copy's demo; its exit code and what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(directory), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*_DEMO, *_SMALL, "--home", str(directory / "home")],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.stdout, f"exit {done.returncode} without a verdict: {done.stderr}"
    printed: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, printed


def test_the_demo_passes_on_the_source_as_it_is(tmp_path: Path) -> None:
    code, verdict = _demo(_copy(tmp_path, None))
    assert (code, verdict["violations"]) == (0, 0), verdict
    assert verdict["counts"]["requests"] == 300
    assert Path(verdict["report"]).is_relative_to(tmp_path), "the copy ran, and not the repository"


@pytest.mark.parametrize(
    "fault",
    [UNCONDITIONAL_PUT, DROPPED_DISPATCH, CHANGED_BYTE],
    ids=["unconditional put", "dropped dispatch", "changed byte"],
)
def test_the_demo_fails_and_names_violation_and_key(tmp_path: Path, fault: Fault) -> None:
    code, verdict = _demo(_copy(tmp_path, fault))
    assert code == 1
    assert not verdict["passed"]
    assert fault.kinds <= set(verdict["byKind"])
    # A changed byte is seen in replays alone: nothing else may be blamed for it.
    assert fault is not CHANGED_BYTE or set(verdict["byKind"]) == fault.kinds
    named = [one for one in verdict["examples"] if one["kind"] in fault.kinds]
    assert {one["kind"] for one in named} == fault.kinds
    assert all(one["tenant"].startswith("storm-") for one in named)
    assert any(one["key"].startswith(f"storm-{verdict['runId']}-") for one in named)
