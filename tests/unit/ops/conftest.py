"""Fixtures of the commands' tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from moto import mock_aws

from tests.unit.ops.replay_stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A local stage on moto."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield Stage(tmp_path)
