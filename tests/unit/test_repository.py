"""The repository's own rules: what no committed file may hold, and what the lock files promise."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A module longer than this does more than one thing; the house aims at 200.
LONGEST_MODULE_LINES = 300

# Hosts are spelt in two halves, and words in brackets, so that this file does not break its own rules.
_REGISTRIES = ("pypi", "pythonhosted", "npmjs", "yarnpkg", "crates", "golang", "maven", "debian")
_HOST = rf"\b[\w.-]*(?:{'|'.join(_REGISTRIES)})[\w.-]*\.(?:org|com|io|net|internal|local)\b"
# What a line of any text file may not match, and why it is a fault.
FORBIDDEN = {
    "names a package registry's host (a clone must work with any index)": re.compile(_HOST, re.IGNORECASE),
    "holds a path of the machine it was written on": re.compile(r"(?<![\w.$}-])/(?:work|root|home|Users)/\w"),
    "leaves work undone in a comment (file an issue instead)": re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b"),
    "holds what looks like an AWS access key": re.compile(r"\b(?:AK[I]A|AS[I]A)[0-9A-Z]{16}\b"),
    "holds what looks like an AWS secret key": re.compile(
        r"secret_?access_?key[\"']?\s*[:=]\s*[\"'][A-Za-z0-9/+]{40}[\"']", re.IGNORECASE
    ),
}


def faults(text: str) -> list[str]:
    """Return `line number: fault` for each forbidden thing in a file's text."""
    return [
        f"{number}: {fault}"
        for number, line in enumerate(text.splitlines(), start=1)
        for fault, pattern in FORBIDDEN.items()
        if pattern.search(line)
    ]


def committed() -> list[Path]:
    """Return the files that git knows and that are in the working tree."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def pins(lock: str) -> dict[str, str]:
    """Return name -> version of each requirement in a lock file's text."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9.-]*)==([^ \\;]+)", lock, flags=re.MULTILINE))


def test_no_committed_file_holds_what_the_rules_forbid() -> None:
    found = []
    for path in committed():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture, say
        found += [f"{path.relative_to(ROOT)}:{fault}" for fault in faults(text)]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://" + ".".join(("files", "pythonhosted", "org")),
        '"resolved": "https://' + ".".join(("registry", "npmjs", "org")) + '/x"',
        "mirror: " + ".".join(("pypi", "corp", "internal")),
        "path = '/" + "work/main/x.py'",
        "cd /" + "home/someone",
        "# TO" + "DO: later",
        "key = 'AK" + "IA" + "ABCDEFGHIJKLMNOP'",
        'secretAccessKey: "' + "a1B2" * 10 + '"',
    ],
)
def test_each_rule_catches_what_it_is_for(line: str) -> None:
    assert faults(f"fine\n{line}\n")[0].startswith("2: ")


@pytest.mark.parametrize("line", ["PyPI and npm", "see /var/task", "https://github.com/x/home/y", "todos: 3"])
def test_ordinary_text_passes_the_rules(line: str) -> None:
    assert faults(line) == []


def test_no_module_is_too_long_to_read() -> None:
    lengths = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in committed() if p.suffix == ".py"}
    assert {str(p.relative_to(ROOT)): n for p, n in lengths.items() if n > LONGEST_MODULE_LINES} == {}


def test_the_lock_has_each_direct_dependency_at_the_version_that_pyproject_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = [re.sub(r"\[.*?\]", "", line) for line in project["dependencies"]]
    direct += [re.sub(r"\[.*?\]", "", line) for line in project["optional-dependencies"]["dev"]]
    locked = pins((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    wanted = {
        re.sub(r"[-_.]+", "-", name.lower()): version
        for name, _, version in (d.partition("==") for d in direct)
    }
    assert {name: locked.get(name) for name in wanted} == wanted


def test_every_lock_file_hashes_each_requirement_and_names_no_address() -> None:
    locks = [path for path in committed() if path.suffix == ".lock"]
    assert ROOT / "requirements.lock" in locks
    for path in locks:
        requirements = re.split(r"^(?=[a-z0-9])", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        assert requirements, path
        assert [r for r in requirements if "--hash=sha256:" not in r or "://" in r] == [], path


def test_the_npm_lock_has_hashes_and_no_addresses() -> None:
    lock = json.loads((ROOT / "tests/iam_simulator/package-lock.json").read_text(encoding="utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    assert [name for name, entry in packages.items() if "resolved" in entry or "integrity" not in entry] == []


def test_the_deployment_workflow_installs_the_pulumi_of_the_lock() -> None:
    workflow = (ROOT / ".github/workflows/deploy.yml").read_text(encoding="utf-8")
    installed = re.findall(r'PULUMI_VERSION: "([\d.]+)"', workflow)
    assert installed == [pins((ROOT / "requirements.lock").read_text(encoding="utf-8"))["pulumi"]]
