"""What the README shows is what one gets."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from chaos.faults import Kind
from ops.cli import app

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
# The contract's words: "the README shows one in under 30 lines".
_MOST_LINES = 29


# Where the example is wired up, and what to write after which line: as the README says.
_TABLES = {
    "handlers/operations/accepted.py": (
        (
            "from handlers.operations.orders import ORDERS\n",
            "from handlers.operations.readings import READINGS\n",
        ),
        ('    "/v1/orders": ORDERS,\n', '    "/v1/readings": READINGS,\n'),
    ),
    "handlers/read.py": (('    "/v1/orders/{id}": "orders",\n', '    "/v1/readings/{id}": "readings",\n'),),
    "handlers/domain/gateway_policy.py": (
        (
            '    "orders:create": ("POST/v1/orders",),\n',
            '    "readings:create": ("POST/v1/readings",),\n    "readings:read": ("GET/v1/readings/*",),\n',
        ),
    ),
    "infra/routes.py": (
        (
            '    Route("POST", "/v1/orders", "ingest"),\n',
            '    Route("POST", "/v1/readings", "ingest"),\n    Route("GET", "/v1/readings/{id}", "read"),\n',
        ),
    ),
    "tenants/keys.py": (('    "orders:create",\n', '    "readings:create",\n    "readings:read",\n'),),
}
# Run in the copy: the tables agree, a key may be granted the operation, and requests go through `ingest`.
_PROOF = """
import json
from handlers.operations import accepted
from ops.openapi import api, document
from tenants.keys import ApiKey
from tests.builders import lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers import test_routes
from tests.unit.handlers.ingest_calls import post

for name, test in vars(test_routes).items():
    if name.startswith("test_"):
        test()
assert ApiKey(name="meters", operations=("readings:create",))
assert "/v1/readings" in json.loads(document.text(api.OPERATIONS))["paths"]
store = InMemoryReceipts()
event = lead_event({"meter": "m-1", "kilowattHours": 7.5}) | {"resource": "/v1/readings"}
refused = post(store, event)
event["multiValueHeaders"] = event["multiValueHeaders"] | {"idempotency-key": ["k"]}
print(json.dumps([refused, post(store, event), post(store, event)]))
"""


def test_the_new_operation_of_the_readme_is_under_thirty_lines_and_works(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(example.splitlines()) <= _MOST_LINES
    copied_with(example, tmp_path)
    ran = subprocess.run(
        [sys.executable, "-c", _PROOF], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    refused, first, second = json.loads(ran.stdout.splitlines()[-1])
    assert refused["statusCode"] == 400  # it requires a key
    assert (first["statusCode"], second["statusCode"], second["body"]) == (201, 201, first["body"])
    assert second["headers"]["Idempotent-Replayed"] == "true"
    assert first["headers"]["Location"] == f"/v1/readings/{json.loads(first['body'])['id']}"


def copied_with(example: str, tmp_path: Path) -> None:
    """A copy of the repository's code in which the example is a module and is in every table."""
    for package in ("handlers", "infra", "tenants", "ops", "loadtest", "tests"):
        shutil.copytree(
            REPOSITORY / package, tmp_path / package, ignore=shutil.ignore_patterns("*.pyc", "node_modules")
        )
    (tmp_path / "handlers/operations/readings.py").write_text(example, encoding="utf-8")
    for name, additions in _TABLES.items():
        text = (tmp_path / name).read_text(encoding="utf-8")
        for after, line in additions:
            assert text.count(after) == 1, f"{name} has no line {after!r} (or two)"
            text = text.replace(after, after + line)
        (tmp_path / name).write_text(text, encoding="utf-8")


def test_every_command_that_the_readme_names_exists() -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)\b", README)) - {"everything"}
    assert named
    assert named <= targets


@pytest.mark.parametrize("page", ["README.md", "docs/proof.md"])
def test_the_kinds_of_faults_that_chaos_injects_are_counted(page: str) -> None:
    told = re.findall(r"(\d+) kinds of faults", (REPOSITORY / page).read_text(encoding="utf-8"))
    assert told == [str(len(Kind))]


def test_every_onceward_command_that_the_readme_names_exists() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    named = re.findall(
        r"onceward (local|tenants|storm|soak|verify|dispatch|rollback|demo)(?: ([a-z|\\]+))?", README
    )
    assert len(named) >= 8
    for area, commands in named:
        command = group.commands[area]
        if isinstance(command, TyperGroup):
            assert set(commands.replace("\\", "").split("|")) <= set(command.commands), area
