"""Fixtures of the commands' tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from moto import mock_aws
from moto.events.utils import EventTemplateParser

from ops import dead_letters
from tests.one_session import make_clients_once
from tests.unit.ops.dlq_stage import DlqStage
from tests.unit.ops.receipts_stage import ReceiptsStage
from tests.unit.ops.replay_stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _one_session(monkeypatch: pytest.MonkeyPatch) -> None:
    make_clients_once(monkeypatch)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A local stage on moto."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield Stage(tmp_path)


@pytest.fixture
def dlqs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DlqStage]:
    """A local stage with its dead-letter queues on moto."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    # An empty queue is asked for a second; moto is asked at once.
    monkeypatch.setattr(dead_letters, "WAIT_SECONDS", 0)
    # moto would shape the event for a target with a library of its own that is not installed.
    as_it_is = staticmethod(lambda input_template, input_paths_map, event: dict(event))
    monkeypatch.setattr(EventTemplateParser, "parse", as_it_is)
    with mock_aws():
        yield DlqStage(tmp_path)


@pytest.fixture
def receipts_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReceiptsStage]:
    """A local stage with its tables, logs and dead-letter queues on moto."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr(dead_letters, "WAIT_SECONDS", 0)
    with mock_aws():
        yield ReceiptsStage(tmp_path)
