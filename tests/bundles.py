"""Builds the functions' zips before the tests, whose processes would each build them beside the others.

usage: python -m tests.bundles
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import TYPE_CHECKING, get_args

from infra.bundle import Platform, build
from infra.settings import FunctionName

if TYPE_CHECKING:
    from pathlib import Path


def build_all() -> list[Path]:
    """Every zip, for the local AWS and for Lambda. Raises BundleError."""
    wanted = product(get_args(FunctionName), get_args(Platform))
    # Two at a time: one waits for a download or a compiler while the other packs.
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda one: build(*one), wanted))


if __name__ == "__main__":
    build_all()
