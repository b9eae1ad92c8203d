"""Tiny Pulumi programs for tests of the local engine, and a resource type that exists in memory only."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pulumi

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.emulator import Endpoint
from ops.local.monitor import Program
from ops.local.resources.base import Made, Provider, by_name
from ops.local.state import State
from ops.local.update import Inputs, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ops.local.diff import Step
    from ops.local.state import Entry
    from ops.local.summary import UpdateSummary

KIND = "test:index:Thing"


class Things(Provider):
    """Things in memory: `name` is their address, `material` is fixed, `size` and `label` can change.

    A thing named `a/b` lives in the thing `a`: it can only be made there, and goes with it.
    `calls` is every call in order; `broken` are the names whose making fails after the thing is there.
    """

    kind: ClassVar = KIND
    identity: ClassVar = Identity(names=("name",), fixed=("material",))
    applied: ClassVar = frozenset({"name", "material", "size", "label", "secretLabel", "code", "numbers"})
    not_applied: ClassVar = {"smell": "nobody can smell it here"}
    volatile: ClassVar = frozenset({"version"})

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.there: dict[str, str] = {}
        self.broken: set[str] = set()
        self._ids = itertools.count(1)

    def create(self, aws: Clients, name: str, inputs: Mapping[str, Any]) -> Made:
        self.calls.append(("create", inputs["name"]))
        if inputs["name"] in self.there:
            raise ValueError(f"{inputs['name']} exists")
        home = inputs["name"].rpartition("/")[0]
        if home and home not in self.there:
            raise ValueError(f"there is no {home}")
        identifier = f"id-{next(self._ids)}"
        self.there[inputs["name"]] = identifier
        if inputs["name"] in self.broken:
            raise ValueError("broke off half-way")
        return Made(identifier, {"arn": f"arn:{inputs['name']}", "version": "1"})

    def leftover(self, aws: Clients, inputs: Mapping[str, Any]) -> Made | None:
        found = by_name(inputs)
        return Made(self.there[found.id], found.outputs) if found and found.id in self.there else None

    def update(self, aws: Clients, old: Entry, inputs: Mapping[str, Any]) -> Made:
        self.calls.append(("update", inputs["name"]))
        return Made(old.id, {**old.outputs, "version": str(int(old.outputs["version"]) + 1)})

    def delete(self, aws: Clients, old: Entry) -> None:
        self.calls.append(("delete", old.inputs["name"]))
        name = old.inputs["name"]
        for lost in [each for each in self.there if each == name or each.startswith(f"{name}/")]:
            del self.there[lost]


class Thing(pulumi.CustomResource):
    """A thing as a program declares it."""

    name: pulumi.Output[str]
    arn: pulumi.Output[str]
    version: pulumi.Output[str]

    def __init__(
        self,
        logical_name: str,
        opts: pulumi.ResourceOptions | None = None,
        properties: Mapping[str, object] | None = None,
        **more: object,
    ) -> None:
        given = {"name": logical_name, **(properties or {}), **more}
        super().__init__(KIND, logical_name, {"arn": None, "version": None, **given}, opts)


class Group(pulumi.ComponentResource):
    """A component."""

    def __init__(self, kind: str, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(kind, name, None, opts)


@dataclass
class Engine:
    """Runs programs one after the other over one state and one set of things."""

    home: Path
    things: Things = field(default_factory=Things)
    steps: list[tuple[str, str]] = field(default_factory=list)

    @property
    def state(self) -> State:
        """The state as the file has it."""
        return State(self.home / "state.json")

    def up(self, program: Callable[[], None], *, dry_run: bool = False) -> UpdateSummary:
        """One update (or preview) of the program."""

        def report(step: Step, urn: str, _changed: tuple[str, ...]) -> None:
            self.steps.append((step.value, urn))

        self.things.calls.clear()
        self.steps.clear()
        directory = self.home / "infra"
        directory.mkdir(exist_ok=True)
        inputs = Inputs(
            Program("project", "local", directory, dry_run=dry_run),
            {"project:setting": "kept", "aws:region": "us-east-1"},
            program,
            {KIND: self.things},
        )
        aws = Clients(Endpoint(1, "never used", "never used"), "us-east-1")
        return run(inputs, self.state, aws, report)


def urn(name: str, kind: str = KIND) -> str:
    """The URN of a resource without a parent."""
    return f"urn:pulumi:local::project::{kind}::{name}"
