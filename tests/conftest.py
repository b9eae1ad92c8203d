"""Fixtures that every test may ask for, and what holds for a process of the tests."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from tests.platform_fixture import platform

if TYPE_CHECKING:
    import pytest

__all__ = ["platform"]


def pytest_configure(config: pytest.Config) -> None:
    """Name the mark that only a part of `make test` is chosen by (tests/parts.py)."""
    config.addinivalue_line("markers", "chaos: a storm under faults, which waits for most of its time")


def pytest_collection_finish() -> None:
    """Take what is imported and collected out of the garbage collector's sight (docs/adr/0110).

    A worker holds millions of objects that live as long as it does (boto3's and Pulumi's modules, the tests
    themselves), and each full collection went through all of them: a third of the time of tests on moto.
    What the tests make is collected as ever, so that a file or socket left open is still an error.
    """
    gc.collect()
    gc.freeze()
