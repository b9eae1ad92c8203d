"""`onceward local` where nothing runs; with a platform it is in tests/integration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from ops.commands.local import app

if TYPE_CHECKING:
    from pathlib import Path

RUN = CliRunner()


def test_status_of_what_never_ran_is_down_and_exits_1(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["status", "--home", str(tmp_path / "none")])
    assert (result.exit_code, result.stdout) == (1, "Down.\n")
    assert not (tmp_path / "none").exists()


def test_status_as_json_is_one_object(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["status", "--home", str(tmp_path), "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["running"] is False


def test_down_of_what_does_not_run_is_no_error(tmp_path: Path) -> None:
    for home in (tmp_path, tmp_path / "none"):
        assert RUN.invoke(app, ["down", "--home", str(home)]).exit_code == 0


def test_wrong_tenant_files_are_told_without_a_trace_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "tenants").mkdir()
    (tmp_path / "tenants" / "acme.yaml").write_text("id: acme\n")
    home = tmp_path / "home"
    result = RUN.invoke(app, ["up", "--preview", "--home", str(home), "--tenants", str(tmp_path / "tenants")])
    assert result.exit_code == 1
    assert "acme.yaml:1: keys: is required" in result.stderr
    assert "Traceback" not in result.output


def test_a_preview_makes_nothing_and_counts_what_it_would_make(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["up", "--preview", "--home", str(tmp_path / "home")])
    assert result.exit_code == 0, result.output
    assert " +  aws:dynamodb:Table receipts create" in result.stdout
    assert "to create" in result.stdout
    assert not (tmp_path / "home").exists()


def test_an_unknown_option_is_a_usage_error(tmp_path: Path) -> None:
    assert RUN.invoke(app, ["up", "--nonsense"]).exit_code == 2
