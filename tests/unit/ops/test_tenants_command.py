"""`onceward tenants`: what it prints, what it writes, and how it exits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from ops.commands.tenants import app
from tenants.loader import load_all
from tests.unit.tenants.files import TENANT, TIERS, directory

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

WRONG = TENANT + "colour: red\n"
WIDE = {"COLUMNS": "200", "TERM": "dumb"}  # so that no message is broken over lines


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env=WIDE)


def at(path: Path, *arguments: str) -> Result:
    return run(*arguments, "--directory", str(path))


def test_the_committed_tenants_are_valid_from_any_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("validate")
    assert (result.exit_code, result.stdout) == (0, "All valid. Tenants: 6, tiers: 3.\n")


def test_validate_lists_every_fault_and_exits_1(tmp_path: Path) -> None:
    path = directory(tmp_path, acme=WRONG, bird=WRONG)
    result = at(path, "validate")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "3 faults in the tenant files:",
        f"  {path}/acme.yaml:6: colour: is not a known field",
        f"  {path}/bird.yaml:1: id: must be the file's name without .yaml ('bird') (is 'acme')",
        f"  {path}/bird.yaml:6: colour: is not a known field",
    ]


def test_validate_refuses_a_stage_that_has_no_settings(tmp_path: Path) -> None:
    path = directory(tmp_path, acme=TENANT.replace("[local, dev]", "[local, prd]"))
    result = at(path, "validate")
    assert result.exit_code == 1
    assert f"{path}/acme.yaml:4: stages[1]: must have a Pulumi.prd.yaml" in result.stdout


def test_validate_tells_scripts_the_same_as_json(tmp_path: Path) -> None:
    path = directory(tmp_path, acme=WRONG)
    result = at(path, "validate", "--json")
    fault = {"file": f"{path}/acme.yaml", "line": 6, "field": "colour", "rule": "is not a known field"}
    assert (result.exit_code, json.loads(result.stdout)) == (1, {"valid": False, "faults": [fault]})
    (path / "acme.yaml").write_text(TENANT, encoding="utf-8")
    result = at(path, "validate", "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (0, {"valid": True, "faults": []})


@pytest.mark.parametrize("command", [["list"], ["show", "acme"]])
def test_the_other_commands_tell_the_faults_on_stderr_and_exit_1(tmp_path: Path, command: list[str]) -> None:
    result = at(directory(tmp_path, acme=WRONG), *command)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "acme.yaml:6: colour: is not a known field" in result.stderr


def test_list_shows_the_tenants_of_a_stage(tmp_path: Path) -> None:
    there = TENANT.replace("id: acme", "id: bird").replace("[local, dev]", "[prod]")
    path = directory(tmp_path, acme=TENANT, bird=there + "status: suspended\n")
    assert at(path, "list").stdout.splitlines() == [
        "ID    TIER   STATUS     STAGES     KEYS    NAME",
        "acme  small  active     local,dev  server  Acme",
        "bird  small  suspended  prod       server  Acme",
    ]
    listed = json.loads(at(path, "list", "--stage", "prod", "--json").stdout)
    assert listed == [
        {
            "id": "bird",
            "name": "Acme",
            "tier": "small",
            "status": "suspended",
            "stages": ["prod"],
            "dashboard": "dedicated",
            "synthetic": False,
            "keys": ["server"],
        }
    ]


def test_list_of_a_stage_without_tenants_is_empty_and_fine(tmp_path: Path) -> None:
    result = at(directory(tmp_path, acme=TENANT), "list", "--stage", "prod", "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (0, [])


def test_list_of_a_stage_without_settings_is_refused_with_those_that_have_some(tmp_path: Path) -> None:
    result = at(directory(tmp_path, acme=TENANT), "list", "--stage", "qa")
    assert result.exit_code == 2
    assert "no stage 'qa' (no Pulumi.qa.yaml); there are: dev, local, prod" in result.stderr


def test_show_fills_in_defaults_limits_and_topics(tmp_path: Path) -> None:
    text = TENANT + "operations: {leads: {bodyLimitBytes: 1500}}\n"
    path = directory(tmp_path, acme=text)
    shown = json.loads(at(path, "show", "acme", "--json").stdout)
    assert shown["limits"] == {
        "ratePerSecond": 10,
        "burst": 20,
        "quotaPerMonth": 1000,
        "bodyLimitBytes": 2048,
    }
    assert shown["operations"]["leads"]["bodyLimitBytes"] == 1500
    assert shown["topics"] == {"local": "onceward-local-acme", "dev": "onceward-dev-acme"}
    assert shown["keys"] == [{"name": "server", "operations": ["*"], "origins": []}]
    lines = dict(line.split(maxsplit=1) for line in at(path, "show", "acme").stdout.splitlines())
    assert lines["limits.bodyLimitBytes"] == "2048"
    assert lines["topics.dev"] == "onceward-dev-acme"
    assert (lines["operations.leads.windowSeconds"], lines["keys[0].origins"]) == ("86400", "-")


def test_show_writes_out_what_a_preset_says(tmp_path: Path) -> None:
    path = directory(tmp_path, acme=TENANT + "operations: {webhooks: {sources: {pay: {preset: stripe}}}}\n")
    lines = dict(line.split(maxsplit=1) for line in at(path, "show", "acme").stdout.splitlines())
    source = "operations.webhooks.sources.pay"
    assert (lines[f"{source}.path"], lines[f"{source}.preset"]) == ("/v1/webhooks/acme/pay", "stripe")
    assert (lines[f"{source}.proof.scheme"], lines[f"{source}.identity.path"]) == ("stripe", "id")
    assert (lines[f"{source}.windowSeconds"], lines[f"{source}.destination"]) == ("2592000", "-")
    assert (lines["operations.payments"], lines["operations.orders.keySource"]) == ("-", "header")


@pytest.mark.parametrize(("asked", "hint"), [("acmee", "did you mean acme?"), ("zzz", "there are: acme")])
def test_show_of_an_unknown_tenant_is_a_usage_error_that_helps(tmp_path: Path, asked: str, hint: str) -> None:
    result = at(directory(tmp_path, acme=TENANT), "show", asked)
    assert result.exit_code == 2
    assert hint in result.stderr


def test_add_writes_a_commented_file_that_validates_and_says_what_next(tmp_path: Path) -> None:
    path = directory(tmp_path)
    options = ["--tier", "small", "--stages", "local,dev", "--key", "one", "--key", "two", "--synthetic"]
    result = at(path, "add", "dune-hotels", *options)
    assert result.exit_code == 0
    assert "make up" in result.stdout
    assert "pulumi up --stack dev" in result.stdout
    (tenant,) = load_all(path).tenants
    assert (tenant.id, tenant.name, tenant.tier) == ("dune-hotels", "Dune Hotels", "small")
    assert (tenant.stages, [key.name for key in tenant.keys]) == (("local", "dev"), ["one", "two"])
    assert tenant.synthetic is True
    text = (path / "dune-hotels.yaml").read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=./tenant.schema.json\n")
    assert text.count("#") > 15


@pytest.mark.parametrize(
    "name", ["Dünes", 'a "b" #c', "yes", "12", "a: b", "- x", "null", "{x}", "Ünï\U0001f600", "a\\b", "0x1F"]
)
def test_add_keeps_a_name_as_it_was_given(tmp_path: Path, name: str) -> None:
    path = directory(tmp_path)
    assert at(path, "add", "dunes", "--tier", "small", "--name", name).exit_code == 0
    assert load_all(path).tenants[0].name == name


def test_what_add_writes_by_default_is_what_a_bare_file_means(tmp_path: Path) -> None:
    path = directory(tmp_path, acme=TENANT)
    assert at(path, "add", "acme-two", "--tier", "small", "--name", "Acme").exit_code == 0
    bare, added = load_all(path).tenants
    assert added.model_copy(update={"id": "acme"}) == bare


def test_add_never_overwrites_a_file(tmp_path: Path) -> None:
    path = directory(tmp_path, acme=TENANT)
    result = at(path, "add", "acme", "--tier", "small")
    assert result.exit_code == 2
    assert "is there already" in result.stderr
    assert (path / "acme.yaml").read_text(encoding="utf-8") == TENANT


@pytest.mark.parametrize("tenant_id", ["../acme", "Acme", "a", "acme-", "", "a/b", "a#b"])
def test_add_refuses_a_wrong_id_before_it_makes_a_path_of_it(tmp_path: Path, tenant_id: str) -> None:
    path = directory(tmp_path)
    result = at(path, "add", tenant_id)
    assert result.exit_code == 2
    assert "must match" in result.stderr
    assert [file.name for file in path.iterdir()] == ["tiers.yaml"]


def test_add_names_every_wrong_option_and_writes_nothing(tmp_path: Path) -> None:
    path = directory(tmp_path)
    result = at(path, "add", "dunes", "--tier", "gold", "--stage", "X", "--key", "a,a", "--dashboard", "no")
    assert result.exit_code == 2
    assert [line.split(": ")[1] for line in result.stderr.splitlines()[:-1]] == [
        *("tier", "stages[0]", "keys", "dashboard")
    ]
    assert result.stderr.splitlines()[-1] == "Nothing was written."
    assert not (path / "dunes.yaml").exists()


def test_add_stops_at_faulty_tiers_and_names_them(tmp_path: Path) -> None:
    path = directory(tmp_path, tiers=TIERS.replace("burst: 20", "burst: 0"))
    result = at(path, "add", "dunes", "--tier", "small")
    assert result.exit_code == 2
    assert "tiers.yaml: small.burst: must be greater than or equal to 1" in result.stderr
    assert not (path / "dunes.yaml").exists()


def test_schema_check_says_which_file_is_out_of_date(tmp_path: Path) -> None:
    result = at(tmp_path, "schema", "--check")
    assert result.exit_code == 1
    assert result.stdout.count("is out of date") == 2
    assert list(tmp_path.iterdir()) == []
    assert at(tmp_path, "schema").exit_code == 0
    assert (at(tmp_path, "schema", "--check").exit_code, len(list(tmp_path.iterdir()))) == (0, 2)
    assert at(tmp_path, "schema").stdout == "Both schemas are up to date.\n"


@pytest.mark.parametrize("command", [["validate"], ["list"], ["show", "x"], ["add", "abc"], ["schema"]])
def test_a_directory_that_is_none_is_a_usage_error(tmp_path: Path, command: list[str]) -> None:
    result = at(tmp_path / "nowhere", *command)
    assert result.exit_code == 2
    assert "is not a directory" in result.stderr


@pytest.mark.parametrize("command", ["validate", "list", "show", "add", "schema"])
def test_every_command_shows_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: onceward tenants {command}" in result.stdout
