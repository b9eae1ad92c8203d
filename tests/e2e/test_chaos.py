"""`make chaos` passes on the code as it is, and names seed, violation and key of a fault that is planted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.platform, pytest.mark.storm, pytest.mark.chaos]

_ROOT = Path(__file__).resolve().parents[2]
# As few keys and clients as a storm over five operations and three tenants can have, in 20 s. Most keys are
# new early in a plan: by this seed each operation has new ones well before the restart and well after it, so
# that every function is called through the proxy then, however slow the machine.
_SEED = "351"
_SIZE = ["--seed", _SEED, "--requests", "200", "--keys", "45", "--seconds", "20", "--skew", "15"]
# A minute or two on idle cores; leases of killed workers and messages they held add as much, and a machine
# that does ten other things makes ten minutes of it.
_SECONDS = 900


def _chaos(home: Path, *more: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "chaos", *_SIZE, "--home", str(home), *more]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=_SECONDS, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.xdist_group("chaos")
def test_a_storm_under_every_kind_of_fault_breaks_no_promise(tmp_path: Path) -> None:
    code, said = _chaos(tmp_path / "home")
    assert code == 0, said
    assert f"PASSED, seed {_SEED}." in said
    assert re.search(r"violations +0\b", said)


@pytest.mark.xdist_group("planted chaos")
def test_a_planted_fault_is_found_with_its_seed_and_key(tmp_path: Path) -> None:
    code, said = _chaos(tmp_path / "home", "--plant", "unconditional-put")
    assert code == 1, said
    assert f"make chaos SEED={_SEED}" in said
    # One that every run meets: what a lost answer alone shows (own-write-unknown) a run this small can miss.
    assert re.search(r"FAILED: VIOLATION [a-z-]+: tenant storm-\w, key \S*storm-", said), said
    assert (tmp_path / "home" / "runs").is_dir()
