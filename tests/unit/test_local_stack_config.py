"""A stage's configuration, read as Pulumi reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.local.errors import LocalPlatformError
from ops.local.stack_config import StackConfig, read

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """
name: shop
main: infra/
config:
  aws:region: {value: us-east-1}
  plain: 3
  declared: {type: string, default: d}
  required: {type: string}
"""
STAGE = """
config:
  aws:region: eu-central-1
  shop:audit: true
  shop:days: 7
  shop:origins: ["a", "b"]
  shop:domain: {name: api.example.com}
"""


def config(directory: Path, project: str = PROJECT, stage: str = STAGE, **overrides: str) -> StackConfig:
    (directory / "Pulumi.yaml").write_text(project)
    (directory / "Pulumi.local.yaml").write_text(stage)
    return read(directory, "local", overrides)


def test_the_stage_wins_over_the_project_and_values_arrive_as_text_or_json(tmp_path: Path) -> None:
    found = config(tmp_path)
    assert (found.project, found.directory, found.region) == ("shop", tmp_path / "infra", "eu-central-1")
    assert dict(found.values) == {
        "aws:region": "eu-central-1",
        "shop:plain": "3",
        "shop:declared": "d",
        "shop:audit": "true",
        "shop:days": "7",
        "shop:origins": '["a", "b"]',
        "shop:domain": '{"name": "api.example.com"}',
    }


def test_an_override_wins_over_both(tmp_path: Path) -> None:
    assert config(tmp_path, **{"shop:days": "9"}).values["shop:days"] == "9"


@pytest.mark.parametrize("stage", ["", "config:\n", "{}"])
def test_a_stage_without_settings_has_the_projects(tmp_path: Path, stage: str) -> None:
    (tmp_path / "Pulumi.yaml").write_text(PROJECT)
    (tmp_path / "Pulumi.local.yaml").write_text(stage or "config: {}\n")
    assert read(tmp_path, "local", {}).region == "us-east-1"


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        ("config:\n  shop:token: {secure: AAAB}\n", r"Pulumi\.local\.yaml: shop:token: an encrypted value"),
        ("config: [\n", r"Pulumi\.local\.yaml: not YAML"),
        ("- a\n", r"Pulumi\.local\.yaml: must be a mapping"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, stage: str, message: str) -> None:
    with pytest.raises(LocalPlatformError, match=message):
        config(tmp_path, stage=stage)


def test_a_missing_stage_is_named(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text(PROJECT)
    with pytest.raises(LocalPlatformError, match=r"Pulumi\.local\.yaml: no such file"):
        read(tmp_path, "local", {})


def test_a_stage_without_a_region_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(LocalPlatformError, match="aws:region"):
        _ = config(tmp_path, "name: shop\n", "config: {}\n").region
