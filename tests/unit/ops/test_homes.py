"""A --home that can be none: one line that names it, and exit code 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from ops.cli import app
from ops.local.errors import HomeError
from ops.local.files import read_json

if TYPE_CHECKING:
    from pathlib import Path

MAKE = (("local", "up"), ("demo",), ("soak",))
READ = (("local", "status"), ("local", "env", "acme"), ("alarms",), ("dashboard",), ("dlq", "list"))


@pytest.mark.parametrize("command", [*MAKE, *READ], ids=" ".join)
@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_file_is_no_home_nor_is_what_would_be_below_one(
    tmp_path: Path, command: tuple[str, ...], below: str
) -> None:
    home = tmp_path / "file" / below
    (tmp_path / "file").write_text("no directory")
    result = CliRunner().invoke(app, [*command, "--home", str(home)], env={"COLUMNS": "400"})
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit), result.exception
    assert str(home) in result.stderr


@pytest.mark.parametrize("command", MAKE, ids=" ".join)
def test_a_home_that_cannot_be_made_is_told(command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*command, "--home", "/proc/x"], env={"COLUMNS": "400"})
    assert result.exit_code == 2
    assert "/proc/x: it cannot be the platform's directory" in result.stderr


def test_a_file_that_cannot_be_read_is_told_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(HomeError, match=str(tmp_path)):
        read_json(tmp_path)
