"""Fixtures of the commands' tests."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws
from moto.events.utils import EventTemplateParser

from ops import dead_letters
from tests.unit.ops.dlq_stage import DlqStage
from tests.unit.ops.receipts_stage import ReceiptsStage
from tests.unit.ops.replay_stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class _OneSession:
    """In the place of `boto3.Session`: parses the services' models once, and makes each client once.

    Both took a third of the time of these tests. moto answers a client that was made in another test too:
    what a client knows is where it sends, and moto forgets what was sent when its block ends.
    """

    def __init__(self) -> None:
        self._session = boto3.session.Session("testing", "testing", region_name="us-east-1")
        self._clients: dict[str, Any] = {}

    def client(self, service: str, **options: Any) -> Any:
        settings = {
            name: vars(value) if isinstance(value, Config) else value for name, value in options.items()
        }
        key = f"{service} {sorted(settings.items())}"
        if key not in self._clients:
            self._clients[key] = self._session.client(service, **options)
        return self._clients[key]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


_ONE: Final = cache(_OneSession)


@pytest.fixture(autouse=True)
def _one_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boto3, "Session", _ONE)
    monkeypatch.setattr(boto3, "client", lambda service, **options: _ONE().client(service, **options))


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
