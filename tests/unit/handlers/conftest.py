"""Fixtures of the handlers' tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from moto import mock_aws

from tests.one_session import make_clients_once
from tests.unit.handlers.dispatch_bench import Bench

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """`dispatch` and everything that it works with, on moto, at a stream that honours partial failures."""
    make_clients_once(monkeypatch)
    with mock_aws():
        yield Bench()
