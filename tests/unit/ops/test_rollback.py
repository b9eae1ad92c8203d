"""`onceward rollback`: which version `live` goes to, and what it refuses."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING

import boto3
import pytest
import typer
from moto import mock_aws
from typer.testing import CliRunner

from ops.commands import rollback

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

FUNCTION = "onceward-local_ingest"


def code(number: int) -> bytes:
    """A zip that differs from version to version: Lambda publishes nothing for unchanged code."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("handler.py", f"VERSION = {number}")
    return packed.getvalue()


class Deployment:
    """`ingest` with versions 1 to 3 published, `live` on 3."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.client = boto3.client("lambda", region_name="us-east-1")
        role = boto3.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        self.client.create_function(
            FunctionName=FUNCTION,
            Runtime="python3.13",
            Role=role,
            Handler="handler.handler",
            Code={"ZipFile": code(1)},
            Publish=True,
        )
        for number in (2, 3):
            self.client.update_function_code(FunctionName=FUNCTION, ZipFile=code(number), Publish=True)
        self.client.create_alias(FunctionName=FUNCTION, Name="live", FunctionVersion="3")
        tables = {"receipts": "x", "records": "x", "tenants": "x"}
        outputs = {"apiUrl": "x", "region": "us-east-1", "stage": "local", "tables": tables, "tenants": {}}
        (home / "local.json").write_text(json.dumps(outputs), encoding="utf-8")

    def live(self) -> str:
        version: str = self.client.get_alias(FunctionName=FUNCTION, Name="live")["FunctionVersion"]
        return version

    def rollback(self, *arguments: str) -> Result:
        app = typer.Typer()
        rollback.register(app)
        return CliRunner().invoke(
            app, ["--stage", "local", "--home", str(self.home), *arguments], env={"COLUMNS": "200"}
        )


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield Deployment(tmp_path)


def test_live_goes_back_one_version(deployment: Deployment) -> None:
    result = deployment.rollback("ingest")
    assert (result.exit_code, result.stdout) == (0, f"{FUNCTION}: live 3 -> 2\n")
    assert deployment.live() == "2"


def test_once_more_goes_back_once_more(deployment: Deployment) -> None:
    deployment.rollback("ingest")
    deployment.rollback("ingest")
    assert deployment.live() == "1"


def test_a_version_can_be_named_forward_too(deployment: Deployment) -> None:
    deployment.rollback("ingest", "--to", "1")
    assert deployment.live() == "1"
    result = deployment.rollback("ingest", "--to", "3", "--json")
    assert json.loads(result.stdout) == {"function": FUNCTION, "from": "1", "to": "3"}
    assert deployment.live() == "3"


def test_a_weighted_version_beside_it_stops_taking_requests(deployment: Deployment) -> None:
    deployment.client.update_alias(
        FunctionName=FUNCTION, Name="live", RoutingConfig={"AdditionalVersionWeights": {"2": 0.5}}
    )
    deployment.rollback("ingest", "--to", "1")
    alias = deployment.client.get_alias(FunctionName=FUNCTION, Name="live")
    assert not alias.get("RoutingConfig", {}).get("AdditionalVersionWeights")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("igest",), "none of"),
        (("ingest", "--to", "9"), "there are: 1, 2, 3"),
        (("ingest", "--to", "3"), "already"),
        (("ingest", "--to", "0"), "--to"),
        (("ingest", "--to", "latest"), "--to"),
        (("read",), "is the stage deployed"),
    ],
)
def test_nonsense_is_refused_and_changes_nothing(
    deployment: Deployment, arguments: tuple[str, ...], said: str
) -> None:
    result = deployment.rollback(*arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert deployment.live() == "3"


def test_there_is_nothing_before_the_first_version(deployment: Deployment) -> None:
    deployment.rollback("ingest", "--to", "1")
    result = deployment.rollback("ingest")
    assert result.exit_code == 2
    assert "no version before 1" in result.output
    assert deployment.live() == "1"
