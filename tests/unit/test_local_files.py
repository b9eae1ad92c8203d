"""The lock of a home."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ops.local.errors import LocalPlatformError
from ops.local.files import exclusive

if TYPE_CHECKING:
    from pathlib import Path


def test_a_second_holder_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text("999999\n")  # of a holder that was killed
    with (
        exclusive(lock),
        pytest.raises(LocalPlatformError, match=rf"another command \(pid {os.getpid()}\) is working on"),
        exclusive(lock),
    ):
        pytest.fail("two held it at once")
    with exclusive(lock):
        assert lock.read_text() == f"{os.getpid()}\n"
    assert lock.read_text() == ""


def test_the_lock_is_free_again_after_an_error_in_the_block(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), exclusive(tmp_path / "lock"):
        raise ZeroDivisionError
    with exclusive(tmp_path / "lock"):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
