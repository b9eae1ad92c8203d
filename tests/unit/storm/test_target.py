"""What a storm is aimed at: found in the local file or asked of Pulumi, and never a tenant with customers."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from loadtest.target import TargetError, choose, from_local, from_pulumi, load, parse

if TYPE_CHECKING:
    from pathlib import Path


def _tenant(*, synthetic: bool, keys: dict[str, str] | None = None, **more: object) -> dict[str, Any]:
    topic = {"topicArn": "arn:aws:sns:eu-central-1:0:t", "auditQueueUrl": "http://queue"}
    return {"keys": {"server": "s3cret"} if keys is None else keys, "synthetic": synthetic, **topic, **more}


def _outputs(stage: str, **tenants: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiUrl": "http://127.0.0.1:1/_aws/execute-api/x/local/",
        "region": "eu-central-1",
        "stage": stage,
        "tables": {"receipts": "r", "records": "d", "tenants": "t"},
        "tenants": tenants,
    }


LOCAL = {"endpointUrl": "http://127.0.0.1:1", "accessKeyId": "AKIA", "secretAccessKey": "hush"}


def test_the_local_platform_is_found_with_its_credentials(tmp_path: Path) -> None:
    (tmp_path / "local.json").write_text(
        json.dumps({**_outputs("local", a1=_tenant(synthetic=True)), **LOCAL})
    )
    target = load("local", tmp_path, tmp_path)
    assert target.api_url == "http://127.0.0.1:1/_aws/execute-api/x/local"
    options = target.client_options()
    assert (options["endpoint_url"], options["aws_access_key_id"]) == ("http://127.0.0.1:1", "AKIA")
    assert "hush" not in repr(target)
    assert "s3cret" not in repr(target)


def test_a_deployed_stage_uses_the_default_credentials() -> None:
    options = parse(_outputs("dev", a1=_tenant(synthetic=True))).client_options()
    assert "endpoint_url" not in options
    assert "aws_access_key_id" not in options


@pytest.mark.parametrize("text", [None, "", "{}", '{"tenants": {}}'])
def test_a_local_platform_that_is_not_there_is_said_with_its_file(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "local.json").write_text(text)
    with pytest.raises(TargetError, match=r"local\.json"):
        from_local(tmp_path / "local.json")


def _fake_pulumi(directory: Path, script: str) -> None:
    file = directory / "pulumi"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_a_deployed_stage_is_asked_of_pulumi_without_a_secret_in_an_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outputs.json").write_text(json.dumps(_outputs("dev", a1=_tenant(synthetic=True))))
    _fake_pulumi(tmp_path, f'echo "$@" > {tmp_path}/arguments; cat {tmp_path}/outputs.json')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    target = load("dev", tmp_path, tmp_path)
    assert target.tenants["a1"].api_key == "s3cret"
    arguments = (tmp_path / "arguments").read_text()
    assert arguments == "stack output --json --show-secrets --non-interactive --stack dev\n"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo no stack named dev >&2; exit 255", "no stack named dev"),
        ("echo '{}'", "stack dev lack"),
        ("echo not json", "stack dev lack"),
    ],
)
def test_what_pulumi_cannot_tell_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    _fake_pulumi(tmp_path, script)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(TargetError, match=said):
        from_pulumi("dev", tmp_path)


def test_without_pulumi_a_deployed_stage_cannot_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="pulumi is not installed"):
        from_pulumi("dev", tmp_path)


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        ({"web": "w", "server": "s"}, "s"),
        ({"server": "s", "web": "w"}, "s"),
        ({"z": "last", "b": "first"}, "first"),
    ],
)
def test_a_server_key_is_used_before_a_publishable_one(keys: dict[str, str], chosen: str) -> None:
    target = parse(_outputs("dev", a1=_tenant(synthetic=True, keys=keys)))
    assert target.tenants["a1"].api_key == chosen


def test_every_synthetic_tenant_is_stormed_unless_others_are_asked_for() -> None:
    target = parse(
        _outputs("dev", b1=_tenant(synthetic=True), a1=_tenant(synthetic=True), c1=_tenant(synthetic=False))
    )
    assert [one.tenant_id for one in choose(target, ())] == ["a1", "b1"]
    assert [one.tenant_id for one in choose(target, ["b1"])] == ["b1"]
    assert [one.tenant_id for one in choose(target, ["b1", "b1"])] == ["b1"]


@pytest.mark.parametrize("stage", ["dev", "prod", "locals"])
def test_a_tenant_with_customers_is_refused_by_name_outside_local(stage: str) -> None:
    target = parse(_outputs(stage, acme=_tenant(synthetic=False), a1=_tenant(synthetic=True)))
    with pytest.raises(TargetError, match="tenant acme: it is not synthetic"):
        choose(target, ["a1", "acme"])


def test_in_stage_local_any_tenant_may_be_stormed() -> None:
    target = parse({**_outputs("local", acme=_tenant(synthetic=False)), **LOCAL})
    assert [one.tenant_id for one in choose(target, ["acme"])] == ["acme"]


@pytest.mark.parametrize(
    ("tenants", "wanted", "said"),
    [
        ({}, ["acme"], "tenant acme"),
        ({"acme": _tenant(synthetic=False)}, [], "no tenant with `synthetic: true`"),
        ({"acme": _tenant(synthetic=True, status="suspended")}, ["acme"], "tenant acme"),
        ({"acme": _tenant(synthetic=True, keys={})}, ["acme"], "tenant acme"),
    ],
)
def test_a_tenant_that_cannot_be_stormed_is_named(
    tenants: dict[str, Any], wanted: list[str], said: str
) -> None:
    with pytest.raises(TargetError, match=said):
        choose(parse(_outputs("dev", **tenants)), wanted)
