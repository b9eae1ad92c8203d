"""The CI plugin that makes a skipped test a failure: run by pytest itself on small files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PASSES = "def test_fine(): pass\n"
SKIPS = "import pytest\n@pytest.mark.skip(reason='no browser')\ndef test_needs_a_browser(): pass\n"
SKIPS_WHEN_COLLECTED = "import pytest\npytest.skip('no node', allow_module_level=True)\n"
FAILS_AS_EXPECTED = "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_known(): assert False\n"


def run(directory: Path, *, workers: str, plugin: bool = True) -> tuple[int, str]:
    """Run pytest on a directory; return its exit code and output."""
    options = ["-p", "tests.no_skips"] if plugin else []
    command = [sys.executable, "-m", "pytest", "-q", "-n", workers, *options, "--rootdir", str(directory)]
    done = subprocess.run(
        [*command, "-c", "/dev/null", "-p", "no:cacheprovider", str(directory)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("text", "named", "workers"),
    [
        (SKIPS, "test_needs_a_browser", "0"),
        (SKIPS, "test_needs_a_browser", "2"),
        (SKIPS_WHEN_COLLECTED, "test_b.py", "2"),
    ],
)
def test_a_skip_fails_the_run_and_is_named(tmp_path: Path, text: str, named: str, workers: str) -> None:
    (tmp_path / "test_a.py").write_text(PASSES)
    (tmp_path / "test_b.py").write_text(text)
    code, output = run(tmp_path, workers=workers)
    assert code == pytest.ExitCode.TESTS_FAILED
    assert named in output.split("skipped tests are failures here")[1]


def test_without_the_plugin_a_skip_passes(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(PASSES + SKIPS)
    assert run(tmp_path, workers="0", plugin=False)[0] == pytest.ExitCode.OK


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(PASSES + FAILS_AS_EXPECTED)
    assert run(tmp_path, workers="0")[0] == pytest.ExitCode.OK
