"""`onceward rollback`: which version `live` goes to, and what it refuses."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING

import boto3
import pytest
import typer
from botocore.stub import Stubber
from moto import mock_aws
from typer.testing import CliRunner

from ops.commands import rollback
from ops.rollback import refuse_during_deployment

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

    def is_canary(self, version: str, weights: dict[str, float]) -> None:
        self.client.update_alias(
            FunctionName=FUNCTION,
            Name="live",
            FunctionVersion=version,
            RoutingConfig={"AdditionalVersionWeights": weights},
        )

    def weights(self) -> dict[str, float]:
        alias = self.client.get_alias(FunctionName=FUNCTION, Name="live")
        return dict(alias.get("RoutingConfig", {}).get("AdditionalVersionWeights", {}))

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
    assert json.loads(result.stdout) == {"function": FUNCTION, "from": "1", "to": "3", "weights": {}}
    assert deployment.live() == "3"


def test_in_a_canary_back_is_the_version_that_has_most_calls(deployment: Deployment) -> None:
    deployment.is_canary("2", {"3": 0.1})
    result = deployment.rollback("ingest")
    assert (result.exit_code, result.stdout) == (0, f"{FUNCTION}: live 2, 10% of the calls to 3 -> 2\n")
    assert (deployment.live(), deployment.weights()) == ("2", {})
    deployment.rollback("ingest")
    assert deployment.live() == "1"


def test_in_a_canary_any_version_can_be_named_and_gets_all_calls(deployment: Deployment) -> None:
    for version in ("1", "2", "3"):
        deployment.is_canary("2", {"3": 0.1})
        told = json.loads(deployment.rollback("ingest", "--to", version, "--json").stdout)
        assert told == {"function": FUNCTION, "from": "2", "to": version, "weights": {"3": 0.1}}
        assert (deployment.live(), deployment.weights()) == (version, {})


def test_where_the_version_beside_it_is_the_older_one_it_has_to_be_named(deployment: Deployment) -> None:
    deployment.is_canary("3", {"2": 0.5})
    result = deployment.rollback("ingest")
    assert (result.exit_code, "an older version; name one: 1, 2, 3" in result.output) == (2, True)
    assert deployment.weights() == {"2": 0.5}


@pytest.mark.parametrize("under_way", [True, False])
def test_while_codedeploy_is_at_the_function_it_is_refused_and_says_how_to_stop_that(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, under_way: bool
) -> None:
    codedeploy = boto3.client("codedeploy", region_name="us-east-1")
    monkeypatch.setattr(rollback, "LOCAL_STAGE", "another")
    clients = {"lambda": deployment.client, "codedeploy": codedeploy}
    monkeypatch.setattr(rollback, "clients", lambda _target: clients.__getitem__)
    asked = {
        "applicationName": "onceward-local_functions",
        "deploymentGroupName": FUNCTION,
        "includeOnlyStatuses": ["Created", "Queued", "InProgress", "Baking", "Ready"],
    }
    with Stubber(codedeploy) as stub:
        stub.add_response("list_deployments", {"deployments": ["d-1"] if under_way else []}, asked)
        result = deployment.rollback("ingest")
        stub.assert_no_pending_responses()
    assert deployment.live() == ("3" if under_way else "2")
    assert result.exit_code == (2 if under_way else 0)
    said = " ".join(result.output.replace("│", " ").split())
    assert ("stop-deployment --auto-rollback-enabled --deployment-id d-1" in said) is under_way


@pytest.mark.parametrize("missing", ["Application", "DeploymentGroup"])
def test_where_there_is_no_codedeploy_nothing_is_under_way(missing: str) -> None:
    codedeploy = boto3.client("codedeploy", region_name="us-east-1")
    with Stubber(codedeploy) as stub:
        stub.add_client_error("list_deployments", f"{missing}DoesNotExistException")
        refuse_during_deployment(codedeploy, "onceward-dev_functions", FUNCTION)
        stub.assert_no_pending_responses()


NONSENSE: tuple[tuple[tuple[str, ...], str], ...] = (
    (("igest",), "none of"),
    (("ingest", "--to", "9"), "there are: 1, 2, 3"),
    (("ingest", "--to", "3"), "already"),
    (("ingest", "--to", "0"), "--to"),
    (("ingest", "--to", "latest"), "--to"),
    (("read",), "is the stage deployed"),
)


def test_nonsense_is_refused_and_changes_nothing(deployment: Deployment) -> None:
    for arguments, said in NONSENSE:
        result = deployment.rollback(*arguments)
        assert result.exit_code == 2, arguments
        assert said in result.output
    assert deployment.live() == "3"


def test_there_is_nothing_before_the_first_version(deployment: Deployment) -> None:
    deployment.rollback("ingest", "--to", "1")
    result = deployment.rollback("ingest")
    assert result.exit_code == 2
    assert "no version before 1" in result.output
    assert deployment.live() == "1"
