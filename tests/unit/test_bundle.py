"""The Lambda zips, opened: they hold what the handler imports, for the right platform, and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import get_args

import boto3
import pytest

from infra.bundle import ROOT, Platform, build
from infra.settings import FunctionName

FUNCTIONS = get_args(FunctionName)
# What the Lambda runtime brings: boto3 and what it needs. Nothing else of this environment is let in.
RUNTIME = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "urllib3", "six.py")
# Lambda takes 250 MB unpacked; these are what we mean to ship, so that a new dependency is noticed.
MOST_BYTES = {"ingest": 3_500_000, "execute": 3_600_000, "deliver": 650_000, "fulfil": 650_000}
MOST_BYTES_OF_OTHERS = 500_000
WITH_PYDANTIC = ("ingest", "execute")

# Run in an interpreter without this environment: prints the zip's own top-level modules that it imported.
IMPORT = """
import importlib, json, sys
unpacked, runtime, function = sys.argv[1:]
sys.path[:0] = [unpacked, runtime]
module = importlib.import_module(f"handlers.{function}")
assert callable(module.handler)
files = {name: getattr(value, "__file__", None) or "" for name, value in sys.modules.items()}
print(json.dumps(sorted({name.split(".")[0] for name, file in files.items() if file.startswith(unpacked)})))
"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with boto3 and its dependencies only."""
    directory = tmp_path_factory.mktemp("runtime")
    site_packages = Path(boto3.__file__).parents[1]
    for name in RUNTIME:
        (directory / name).symlink_to(site_packages / name)
    return directory


def names_in(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def packages_in(path: Path) -> set[str]:
    """The top-level modules in the zip, without the wheels' metadata."""
    tops = {name.split("/")[0] for name in names_in(path)}
    return {
        top.removesuffix(".py") for top in tops if not top.endswith(".dist-info") and top != "__pycache__"
    }


def imported(function: str, unpacked: Path, runtime: Path) -> set[str]:
    """The top-level modules of the unpacked zip that importing the handler loads."""
    command = [sys.executable, "-I", "-S", "-B", "-c", IMPORT, str(unpacked), str(runtime), function]
    done = subprocess.run(command, capture_output=True, text=True, env={}, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_every_handler_has_a_bundle_and_every_bundle_a_handler() -> None:
    handlers = {path.stem for path in (ROOT / "handlers").glob("*.py") if "def handler(" in path.read_text()}
    assert handlers == set(FUNCTIONS)
    assert {path.stem for path in (ROOT / "bundle").glob("*.in")} == handlers
    assert {path.stem for path in (ROOT / "bundle").glob("*.lock")} == handlers


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_handler_imports_from_its_zip_alone_and_needs_all_that_is_in_it(
    function: str, tmp_path: Path, runtime: Path
) -> None:
    bundle = build(function, "native")
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path)
    assert imported(function, tmp_path, runtime) == packages_in(bundle)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_lambda_zip_has_only_binaries_for_its_platform(function: str) -> None:
    binaries = [
        name for name in names_in(build(function, "aarch64")) if re.search(r"\.(so|pyd|dylib)\b", name)
    ]
    assert [name for name in binaries if not name.endswith(".cpython-313-aarch64-linux-gnu.so")] == []
    assert len(binaries) == (1 if function in WITH_PYDANTIC else 0)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_both_platforms_ship_the_same_python_files(function: str) -> None:
    def python_files(platform: Platform) -> list[str]:
        return [name for name in names_in(build(function, platform)) if name.endswith(".py")]

    assert python_files("aarch64") == python_files("native")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("platform", ["aarch64", "native"])
def test_a_zip_holds_no_boto3_and_nothing_of_this_machine(function: str, platform: Platform) -> None:
    names = names_in(build(function, platform))
    unwanted = re.compile(r"^boto|^bin/|/RECORD$|/direct_url\.json$|\.lock$|event_handler/")
    assert [name for name in names if unwanted.search(name)] == []
    assert f"handlers/{function}.py" in names
    assert len(names) == len(set(names))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_modules_are_compiled_for_this_machine_only(function: str) -> None:
    def compiled(platform: Platform) -> set[str]:
        return {name for name in names_in(build(function, platform)) if name.endswith(".pyc")}

    assert compiled("aarch64") == set()
    assert f"handlers/__pycache__/{function}.{sys.implementation.cache_tag}.pyc" in compiled("native")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_zip_is_as_small_as_we_say(function: str, capsys: pytest.CaptureFixture[str]) -> None:
    size = build(function, "aarch64").stat().st_size
    with capsys.disabled():
        print(f"\n{function}.zip for Lambda: {size:,} bytes")
    assert size <= MOST_BYTES.get(function, MOST_BYTES_OF_OTHERS)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_licences_travel_with_the_packages(function: str) -> None:
    names = names_in(build(function, "aarch64"))
    metadata = {name.split("/")[0] for name in names if ".dist-info/" in name}
    assert metadata
    assert {
        top for top in metadata if not any(n.startswith(top) and "LICEN" in n.upper() for n in names)
    } == set()


def test_the_bundles_pin_what_pyproject_pins() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {line for path in (ROOT / "bundle").glob("*.in") for line in path.read_text().splitlines()}
    pins = {line for line in wanted if line and not line.startswith("#")}
    assert pins <= set(project["dependencies"])
    assert len(pins) == 6
