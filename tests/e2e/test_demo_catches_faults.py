"""The demo passes on the source as it is, and neither it nor a storm passes on code broken on purpose.

A fault is one place of the code that the functions run: changed in a copy, or on the session's platform and
put back. The command must exit 1 and name violation and key: what fails it is the change alone, since the
same storm passes without it and other tests use the platform after it.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from loadtest.operations import BY_NAME
from ops.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.platform_fixture import RunningPlatform

pytestmark = [pytest.mark.platform, pytest.mark.storm, pytest.mark.xdist_group("demos")]

_ROOT = Path(__file__).resolve().parents[2]
_DEMO = [sys.executable, "-c", "from ops.cli import main; main()", "demo", "--json"]
# Few clients at once, since each is a cold worker of a function.
_FEW = ["--users", "3", "--burst", "4", "--seed", "3"]
_DEMO_SIZE = ["--requests", "300", "--keys", "45", *_FEW, "--settle-seconds", "8"]
# Bundles to zip, 400 resources to make, a storm of seconds: a minute on 2 idle cores.
_SECONDS = 420
_SIZE = ["--requests", "120", "--keys", "20", *_FEW]
_TENANTS = ["--tenants", "gale", "--tenants", "squall", "--settle-seconds", "6"]


@dataclass(frozen=True)
class Fault:
    """One change to the code of `functions`: in `file`, the text `good` becomes `bad`.

    `operations` are stormed, and `kinds` of violations must come of it; `only`: no others.
    """

    functions: tuple[str, ...]
    file: str
    good: str
    bad: str
    operations: tuple[str, ...]
    kinds: frozenset[str]
    only: bool = False


# Every claim is won: leads are written twice, and each attempt of a payment charges under a key of its own.
UNCONDITIONAL_PUT = Fault(
    ("ingest", "execute"),
    "handlers/adapters/receipts.py",
    'f"{_NOBODY} OR (',
    'f"{_NOBODY} OR attribute_exists(pk) OR (',
    ("leads", "payments"),
    frozenset({"second-write", "second-record", "second-event", "second-charge"}),
)
DROPPED_DISPATCH = Fault(
    ("dispatch",),
    "handlers/dispatch.py",
    'if not is_due(image, change.get("OldImage")):',
    'if not is_due(image, change.get("OldImage")) or image["pk"]["S"].endswith("7"):',
    ("leads",),
    frozenset({"lost-record", "lost-event"}),
)
# Seen in replays alone: nothing else may be blamed for it. That a replay is not its first answer is also why
# its key has no order.
CHANGED_BYTE = Fault(
    ("ingest",),
    "handlers/http.py",
    '"body": response.body or ""',
    '"body": (response.body or "").replace("score", "Score", 1 if replay_of else 0)',
    ("leads",),
    frozenset({"replay-body", "not-linearizable"}),
    only=True,
)
# The worker says that it is done, and did not call the CRM.
LOST_UPSERT = Fault(
    ("deliver",),
    "handlers/deliver.py",
    "        self._destinations.send(delivery)",
    "        del delivery",
    ("webhooks",),
    frozenset({"lost-entity"}),
    only=True,
)


def _demo(home: Path, source: Path = _ROOT) -> tuple[int, dict[str, Any]]:
    """Run the demo of the code in `source`; its exit code and what it printed."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*_DEMO, *_DEMO_SIZE, "--home", str(home)],
        cwd=source,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.stdout, f"exit {done.returncode} without a verdict: {done.stderr}"
    printed: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, printed


def _changed(code: bytes, fault: Fault) -> bytes:
    """A function's zip with the fault in it."""
    bundle, broken = zipfile.ZipFile(io.BytesIO(code)), io.BytesIO()
    with zipfile.ZipFile(broken, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        # Without the bundle's compiled modules: Python takes those without a look at the source.
        for name in (name for name in bundle.namelist() if not name.endswith(".pyc")):
            content = bundle.read(name)
            if name == fault.file:
                assert content.count(fault.good.encode()) == 1, f"{name} has changed: plant this fault anew"
                content = content.replace(fault.good.encode(), fault.bad.encode())
            archive.writestr(name, content)
    return broken.getvalue()


def _broken_copy(target: Path, fault: Fault) -> Path:
    """The repository's files with the fault in them."""
    listed = subprocess.run(["git", "ls-files"], cwd=_ROOT, check=True, capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        if not name.startswith("tests/"):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(_ROOT / name, target / name)
    _lend_wheels(target)
    place = target / fault.file
    content = place.read_text(encoding="utf-8")
    assert content.count(fault.good) == 1, f"{fault.file} has changed: plant this fault anew"
    place.write_text(content.replace(fault.good, fault.bad), encoding="utf-8")
    return target


def _lend_wheels(copy: Path) -> None:
    """The packages of the bundles, where some are unpacked and compiled already: no fault is in them."""
    wheels = _ROOT / ".onceward" / "bundles" / "wheels"
    if wheels.is_dir():
        unfinished = shutil.ignore_patterns("partial-*")
        shutil.copytree(wheels, copy / wheels.relative_to(_ROOT), ignore=unfinished)


@contextmanager
def _planted(platform: RunningPlatform, function: str, fault: Fault) -> Iterator[None]:
    """The function's `live` alias runs the changed code; afterwards it and `$LATEST` are as before."""
    client, name = platform.client("lambda"), f"onceward-local_{function}"
    good = client.get_alias(FunctionName=name, Name="live")["FunctionVersion"]
    location = client.get_function(FunctionName=name)["Code"]["Location"]
    with urllib.request.urlopen(location, timeout=30) as answer:
        code: bytes = answer.read()
    client.update_function_code(FunctionName=name, ZipFile=_changed(code, fault))
    bad = client.publish_version(FunctionName=name)["Version"]
    client.update_alias(FunctionName=name, Name="live", FunctionVersion=bad)
    try:
        yield
    finally:
        client.update_alias(FunctionName=name, Name="live", FunctionVersion=good)
        client.update_function_code(FunctionName=name, ZipFile=code)


def test_the_demo_passes_on_the_source_as_it_is(tmp_path: Path) -> None:
    code, verdict = _demo(tmp_path / "home")
    assert (code, verdict["violations"]) == (0, 0), verdict
    assert verdict["counts"]["requests"] == 300
    assert set(verdict["byOperation"]) == set(BY_NAME)
    assert verdict["eventsChecked"]
    assert verdict["downstreamChecked"]


@pytest.mark.parametrize(
    "fault",
    [UNCONDITIONAL_PUT, DROPPED_DISPATCH, CHANGED_BYTE],
    ids=["unconditional put", "dropped dispatch", "changed byte"],
)
def test_the_demo_of_a_broken_copy_fails_and_names_violation_and_key(tmp_path: Path, fault: Fault) -> None:
    code, verdict = _demo(tmp_path / "home", _broken_copy(tmp_path / "copy", fault))
    assert (code, verdict["passed"]) == (1, False)
    found = set(verdict["byKind"])
    assert found == fault.kinds if fault.only else found & fault.kinds
    named = [one for one in verdict["examples"] if one["kind"] in fault.kinds]
    assert any(f"storm-{verdict['runId']}-" in one["key"] for one in named)


@pytest.mark.parametrize("fault", [UNCONDITIONAL_PUT, LOST_UPSERT], ids=["unconditional put", "lost upsert"])
def test_a_storm_fails_and_names_violation_and_key(
    platform: RunningPlatform, tmp_path: Path, fault: Fault
) -> None:
    chosen = [word for operation in fault.operations for word in ("--operations", operation)]
    where = ["--home", str(platform.home), "--run-dir", str(tmp_path / "run"), "--json"]
    with ExitStack() as planted:
        for function in fault.functions:
            planted.enter_context(_planted(platform, function, fault))
        done = CliRunner().invoke(app, ["storm", *_SIZE, *_TENANTS, *chosen, *where])
    assert done.exit_code == 1, done.output
    verdict = json.loads(done.stdout)
    assert not verdict["passed"]
    assert fault.kinds <= set(verdict["byKind"])
    assert not fault.only or set(verdict["byKind"]) == fault.kinds
    named = [one for one in verdict["examples"] if one["kind"] in fault.kinds]
    assert {one["kind"] for one in named} == fault.kinds
    assert all(one["tenant"] in _TENANTS for one in named)
    assert any(f"storm-{verdict['runId']}-" in one["key"] for one in named)
