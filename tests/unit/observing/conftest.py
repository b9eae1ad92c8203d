"""A store for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.observing.store import MetricStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MetricStore]:
    with MetricStore(tmp_path / "metrics.sqlite") as opened:
        yield opened
