"""Compiled modules for `native` bundles: a local worker starts in 283 ms of CPU instead of 479 (ADR 22).

The local AWS unpacks a bundle for every worker, so without them each worker compiles everything again. On AWS
the target interpreter is not the user's, so `aarch64` bundles go without.
"""

import os
import subprocess
import sys
from pathlib import Path

# Where Lambda unpacks a bundle: tracebacks then name the paths that a reader expects.
_TASK_ROOT = "/var/task"
# Seconds for about 300 modules; they take two.
_COMPILE_SECONDS = 120


def compile_below(directory: Path) -> None:
    """Write `__pycache__` for every module below `directory`; the same bytes for the same sources.

    `unchecked-hash`: a zip's timestamps say nothing, and nobody edits an unpacked bundle. A fresh interpreter
    with a fixed hash seed, because what a running one has interned shows in the bytes.

    Raises:
        subprocess.CalledProcessError: a module does not compile.
    """
    command = [
        *(sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
        *("-s", str(directory), "-p", _TASK_ROOT, str(directory)),
    ]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    subprocess.run(command, check=True, timeout=_COMPILE_SECONDS, env=environment)  # noqa: S603 - our own command
