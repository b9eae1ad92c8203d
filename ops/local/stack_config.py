"""A stage's configuration as Pulumi hands it to the program, from Pulumi.yaml and Pulumi.<stage>.yaml."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ops.local.errors import LocalPlatformError


@dataclass(frozen=True)
class StackConfig:
    """The project's name, the directory that its program runs in, and the stage's values by full key."""

    project: str
    directory: Path
    values: Mapping[str, str]

    @property
    def region(self) -> str:
        """`aws:region`. Raises LocalPlatformError if the stage names none."""
        try:
            return self.values["aws:region"]
        except KeyError:
            raise LocalPlatformError("aws:region is missing from the stage's configuration") from None


def read(repository: Path, stage: str, overrides: Mapping[str, str]) -> StackConfig:
    """Read both files; the stage's values win over the project's, `overrides` over both.

    Raises LocalPlatformError for a file that is missing or wrong, naming it.
    """
    project = _load(repository / "Pulumi.yaml")
    name = str(project["name"])
    values: dict[str, str] = {}
    for file, section in (
        ("Pulumi.yaml", _defaults(project.get("config") or {})),
        (f"Pulumi.{stage}.yaml", _load(repository / f"Pulumi.{stage}.yaml").get("config") or {}),
    ):
        for key, value in section.items():
            values[key if ":" in key else f"{name}:{key}"] = _text(file, key, value)
    return StackConfig(name, repository / str(project.get("main", ".")), {**values, **overrides})


def _defaults(section: Mapping[str, Any]) -> dict[str, Any]:
    """A project's config: each a plain value, `{value: ...}` or a declaration, perhaps with `default:`."""
    found: dict[str, Any] = {}
    for key, declared in section.items():
        if not isinstance(declared, dict):
            found[key] = declared
        elif "value" in declared or "default" in declared:
            found[key] = declared.get("value", declared.get("default"))
    return found


def _text(file: str, key: str, value: Any) -> str:  # noqa: ANN401 (any YAML value)
    """The value as Pulumi passes it on: text as it is, anything else as JSON."""
    if isinstance(value, dict) and value.keys() == {"secure"}:
        raise LocalPlatformError(f"{file}: {key}: an encrypted value cannot be read without Pulumi")
    return value if isinstance(value, str) else json.dumps(value)


def _load(path: Path) -> dict[str, Any]:
    try:
        document = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LocalPlatformError(f"{path.name}: no such file in {path.parent}") from None
    except YAMLError as error:
        raise LocalPlatformError(f"{path.name}: not YAML: {error}") from error
    if not isinstance(document, dict):
        raise LocalPlatformError(f"{path.name}: must be a mapping")
    return document
