"""`onceward local` where nothing runs; with a platform it is in tests/integration."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING

import psutil
import pytest
from typer.testing import CliRunner

from loadtest.target import TargetError, from_local
from ops.commands.local import app
from ops.local.platform import LocalPlatform

if TYPE_CHECKING:
    from pathlib import Path

RUN = CliRunner()
UNSET = "unset ONCEWARD_URL ONCEWARD_KEY ONCEWARD_STAND_IN_URL ONCEWARD_WEBHOOK_URL ONCEWARD_WEBHOOK_SECRET\n"


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


TENANT = {
    "keys": {"server": "it's secret"},
    "topicArn": "arn",
    "auditQueueUrl": None,
    "tier": "pro",
    "status": "active",
    "synthetic": False,
    "webhooks": {
        name: {"url": f"http://u/{name}", "scheme": "bearer", "header": None, "secret": f"{name}'s"}
        for name in ("forms", "crm")
    },
}
OUTPUTS = {
    "apiUrl": "http://127.0.0.1:1/local",
    "endpointUrl": "e",
    "accessKeyId": "a",
    "secretAccessKey": "s",
    "region": "r",
    "stage": "local",
    "tables": {},
    "functions": {},
    "standInUrl": "http://s",
    "tenants": {"acme": TENANT},
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A platform that was brought up and whose emulator is, for all that can be seen, this process."""
    this = {"pid": os.getpid(), "started_at": psutil.Process().create_time()}
    endpoint = {"port": 1, "access_key_id": "a", "secret_access_key": "s"}
    (tmp_path / "emulator.json").write_text(json.dumps({"endpoint": endpoint, "process": this}))
    (tmp_path / "local.json").write_text(json.dumps(OUTPUTS))
    return tmp_path


def not_running(home: Path) -> None:
    record = json.loads((home / "emulator.json").read_text())
    record["process"]["started_at"] -= 3600
    (home / "emulator.json").write_text(json.dumps(record))


def mark_unfinished(home: Path, *, pid_runs: bool = False, failed: bool = False) -> None:
    started_at = psutil.Process().create_time() - (0 if pid_runs else 3600)
    process = {"pid": os.getpid(), "started_at": started_at}
    (home / "unfinished.json").write_text(json.dumps({"process": process, "failed": failed}))


def test_status_after_a_good_up_is_complete(home: Path) -> None:
    told = RUN.invoke(app, ["status", "--home", str(home)])
    assert (told.exit_code, told.stdout.splitlines()[0]) == (0, "Up: 0 resources, tenants acme.")
    assert json.loads(RUN.invoke(app, ["status", "--home", str(home), "--json"]).stdout)["complete"] is True


@pytest.mark.parametrize("first", [True, False])
def test_status_after_an_interrupted_up_is_incomplete_and_names_no_address(home: Path, first: bool) -> None:
    mark_unfinished(home)
    if first:
        (home / "local.json").unlink()
    told = RUN.invoke(app, ["status", "--home", str(home)])
    assert told.exit_code == 1
    assert told.stdout == "Incomplete: the last `make up` was interrupted; run it again\n"
    as_json = RUN.invoke(app, ["status", "--home", str(home), "--json"])
    assert (as_json.exit_code, json.loads(as_json.stdout)["complete"]) == (1, False)


def test_status_tells_an_up_that_failed_or_is_at_work_from_one_that_was_interrupted(home: Path) -> None:
    mark_unfinished(home, failed=True)
    assert "`make up` failed; run it again" in RUN.invoke(app, ["status", "--home", str(home)]).stdout
    mark_unfinished(home, pid_runs=True)
    told = RUN.invoke(app, ["status", "--home", str(home)])
    assert (told.exit_code, f"at work (pid {os.getpid()})" in told.stdout) == (1, True)


def test_ctrl_c_in_up_says_in_one_line_what_still_runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LocalPlatform, "up", interrupted)
    told = RUN.invoke(app, ["up", "--home", str(home)])
    assert told.exit_code == 130
    assert told.stderr == (
        "Interrupted: the local AWS still runs at http://127.0.0.1:1; "
        "`make up` continues, `make down` stops it.\n"
    )


@pytest.mark.parametrize("port", ["0", "65536", "70000", "-1"])
def test_a_form_port_that_is_none_is_a_usage_error(tmp_path: Path, port: str) -> None:
    refused = RUN.invoke(app, ["up", "--home", str(tmp_path / "home"), "--form-port", port])
    assert refused.exit_code == 2
    assert "Invalid value for '--form-port'" in refused.stderr
    assert not (tmp_path / "home").exists()


def test_env_gives_lines_for_the_shell_and_names_what_there_is_when_asked_for_what_is_not(home: Path) -> None:
    told = RUN.invoke(app, ["env", "acme", "--home", str(home)])
    assert [shlex.split(line) for line in told.stdout.splitlines()] == [
        ["export", "ONCEWARD_URL=http://127.0.0.1:1/local"],
        ["export", "ONCEWARD_KEY=it's secret"],
        ["export", "ONCEWARD_STAND_IN_URL=http://s"],
        ["export", "ONCEWARD_WEBHOOK_URL=http://u/forms"],
        ["export", "ONCEWARD_WEBHOOK_SECRET=forms's"],
    ]
    for wrong in (["acme", "web"], ["nobody"]):
        refused = RUN.invoke(app, ["env", *wrong, "--home", str(home)])
        assert (refused.exit_code, refused.stdout) == (2, UNSET)
        assert "acme: server" in refused.stderr


def test_env_of_another_source_gives_its_secret_and_of_an_unknown_one_leaves_none_behind(home: Path) -> None:
    told = RUN.invoke(app, ["env", "acme", "--source", "crm", "--home", str(home)])
    assert shlex.split(told.stdout)[-1] == "ONCEWARD_WEBHOOK_SECRET=crm's"
    refused = RUN.invoke(app, ["env", "acme", "--source", "none", "--home", str(home)])
    assert refused.exit_code == 2
    assert refused.stdout.endswith("unset ONCEWARD_WEBHOOK_URL\nunset ONCEWARD_WEBHOOK_SECRET\n")
    assert "There are: forms, crm." in refused.stderr


def test_env_of_a_tenant_without_sources_leaves_no_others_secret(home: Path) -> None:
    (home / "local.json").write_text(json.dumps(OUTPUTS | {"tenants": {"acme": TENANT | {"webhooks": {}}}}))
    told = RUN.invoke(app, ["env", "acme", "--home", str(home)])
    assert told.exit_code == 0
    assert told.stdout.endswith("unset ONCEWARD_WEBHOOK_URL\nunset ONCEWARD_WEBHOOK_SECRET\n")


def test_env_of_a_suspended_tenant_says_that_its_requests_are_refused(home: Path) -> None:
    assert RUN.invoke(app, ["env", "acme", "--home", str(home)]).stderr == ""
    suspended = OUTPUTS | {"tenants": {"cobalt": TENANT | {"status": "suspended"}}}
    (home / "local.json").write_text(json.dumps(suspended))
    told = RUN.invoke(app, ["env", "cobalt", "--home", str(home)])
    assert told.exit_code == 0
    assert told.stderr == "# tenant cobalt is suspended: its requests are refused (403)\n"
    assert "export ONCEWARD_KEY" in told.stdout


def test_env_of_a_platform_whose_emulator_was_killed_says_to_bring_it_up(home: Path) -> None:
    not_running(home)
    refused = RUN.invoke(app, ["env", "acme", "--home", str(home)])
    assert (refused.exit_code, refused.stdout) == (1, UNSET)
    assert "bring the platform up first" in refused.stderr


def test_after_down_nothing_finds_the_addresses_of_what_ran(home: Path) -> None:
    not_running(home)
    assert RUN.invoke(app, ["down", "--home", str(home)]).exit_code == 0
    assert not (home / "local.json").exists()
    refused = RUN.invoke(app, ["env", "acme", "--home", str(home)])
    assert (refused.exit_code, refused.stdout) == (1, UNSET)
    assert "bring the platform up first" in refused.stderr
    with pytest.raises(TargetError, match="not up"):
        from_local(home / "local.json")


@pytest.mark.parametrize("command", ["up", "down", "status", "env"])
def test_help_has_an_example(command: str) -> None:
    told = RUN.invoke(app, [command, "--help"]).stdout
    assert "Example" in told
    assert f"onceward local {command}" in told
