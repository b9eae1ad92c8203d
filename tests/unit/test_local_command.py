"""`onceward local` where nothing runs; with a platform it is in tests/integration."""

from __future__ import annotations

import json
import shlex
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


def test_env_gives_lines_for_the_shell_and_names_what_there_is_when_asked_for_what_is_not(
    tmp_path: Path,
) -> None:
    tenant = {
        "keys": {"server": "it's secret"},
        "topicArn": "arn",
        "auditQueueUrl": None,
        "tier": "pro",
        "status": "active",
        "synthetic": False,
    }
    document = {
        "apiUrl": "http://127.0.0.1:1/local",
        "endpointUrl": "e",
        "accessKeyId": "a",
        "secretAccessKey": "s",
        "region": "r",
        "stage": "local",
        "tables": {},
        "functions": {},
        "tenants": {"acme": tenant},
    }
    (tmp_path / "local.json").write_text(json.dumps(document))
    told = RUN.invoke(app, ["env", "acme", "--home", str(tmp_path)])
    assert shlex.split(told.stdout) == [
        *("export", "ONCEWARD_URL=http://127.0.0.1:1/local", "export", "ONCEWARD_KEY=it's secret")
    ]
    for wrong in (["acme", "web"], ["nobody"]):
        refused = RUN.invoke(app, ["env", *wrong, "--home", str(tmp_path)])
        assert refused.exit_code == 2
        assert "acme: server" in refused.stderr
