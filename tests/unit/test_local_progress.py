"""The mark of an `up` that did not come to its end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ops.local.errors import InvalidInputError, UpdateFailedError
from ops.local.progress import Progress

if TYPE_CHECKING:
    from pathlib import Path


def test_a_block_that_ends_well_leaves_no_mark(tmp_path: Path) -> None:
    progress = Progress(tmp_path)
    with progress.of_up():
        assert f"pid {os.getpid()}" in (progress.unfinished() or "")
    assert progress.unfinished() is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, UpdateFailedError])
def test_a_block_that_breaks_off_leaves_its_mark(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), Progress(tmp_path).of_up():
        raise error
    assert Progress(tmp_path).unfinished() is not None


def test_wrong_input_changes_nothing_about_the_up_before(tmp_path: Path) -> None:
    progress = Progress(tmp_path)
    with pytest.raises(InvalidInputError), progress.of_up():
        raise InvalidInputError
    assert progress.unfinished() is None
    with pytest.raises(KeyboardInterrupt), progress.of_up():
        raise KeyboardInterrupt
    before = (tmp_path / "unfinished.json").read_text()
    with pytest.raises(InvalidInputError), progress.of_up():
        raise InvalidInputError
    assert (tmp_path / "unfinished.json").read_text() == before


def test_what_was_cleared_is_not_told_of(tmp_path: Path) -> None:
    progress = Progress(tmp_path)
    with pytest.raises(KeyboardInterrupt), progress.of_up():
        raise KeyboardInterrupt
    progress.clear()
    assert progress.unfinished() is None
