"""Fixtures of the commands' tests."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import boto3
import pytest
from boto3.session import Session
from moto import mock_aws

from tests.unit.ops.replay_stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@cache
def _session() -> Session:
    return Session("testing", "testing", region_name="us-east-1")


@pytest.fixture(autouse=True)
def _one_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """One session for all tests: each new one parses the services' models again, half of a test's time."""
    monkeypatch.setattr(boto3, "Session", _session)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A local stage on moto."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield Stage(tmp_path)
