"""What the README shows is what one gets."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup

from handlers.domain.operation import AcceptOperation
from handlers.operations import accepted
from ops.cli import app
from tests.builders import lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import post

if TYPE_CHECKING:
    import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
# The contract's words: "the README shows one in under 30 lines".
_MOST_LINES = 29


def test_the_new_operation_of_the_readme_is_under_thirty_lines_and_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(example.splitlines()) <= _MOST_LINES
    module: dict[str, object] = {"__name__": "readings"}
    exec(compile(example, "README.md", "exec", dont_inherit=True), module)
    readings = module["READINGS"]
    assert isinstance(readings, AcceptOperation)
    monkeypatch.setattr("handlers.ingest.BY_RESOURCE", {**accepted.BY_RESOURCE, "/v1/readings": readings})
    store = InMemoryReceipts()
    event = lead_event({"meter": "m-1", "kilowattHours": 7.5}) | {"resource": "/v1/readings"}
    assert post(store, event)["statusCode"] == 400  # it requires a key
    event = lead_event({"meter": "m-1", "kilowattHours": 7.5}, headers={"idempotency-key": ["k"]})
    event["resource"] = "/v1/readings"
    first, second = post(store, event), post(store, event)
    assert (first["statusCode"], second["headers"]["Idempotent-Replayed"]) == (201, "true")
    assert first["headers"]["Location"] == f"/v1/readings/{json.loads(first['body'])['id']}"


def test_every_command_that_the_readme_names_exists() -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)\b", README)) - {"everything"}
    assert named
    assert named <= targets


def test_every_onceward_command_that_the_readme_names_exists() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    named = re.findall(
        r"onceward (local|tenants|storm|verify|dispatch|rollback|demo)(?: ([a-z|\\]+))?", README
    )
    assert len(named) >= 8
    for area, commands in named:
        command = group.commands[area]
        if isinstance(command, TyperGroup):
            assert set(commands.replace("\\", "").split("|")) <= set(command.commands), area
