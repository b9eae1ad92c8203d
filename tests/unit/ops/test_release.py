"""`onceward release`: what it starts, how it follows, and what it says of a rollback."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import boto3
import pytest
import typer
from botocore.stub import ANY, Stubber
from moto import mock_aws
from typer.testing import CliRunner

from loadtest.target import Target
from ops import releasing
from ops.commands import release as command
from ops.release import Releases
from tests.unit.ops.test_rollback import code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer.testing import Result

APPLICATION = "onceward-dev_functions"
INGEST, READ = "onceward-dev_ingest", "onceward-dev_read"


class Stage:
    """Stage `dev`: `ingest` has a version 2 and `live` on 1, `read` is up to date; CodeDeploy is stubbed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lambda_ = boto3.client("lambda", region_name="us-east-1")
        self.cloudwatch = boto3.client("cloudwatch", region_name="us-east-1")
        self.codedeploy = boto3.client("codedeploy", region_name="us-east-1")
        self.stub = Stubber(self.codedeploy)
        role = boto3.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        for function in (INGEST, READ):
            self.lambda_.create_function(
                FunctionName=function,
                Runtime="python3.13",
                Role=role,
                Handler="handler.handler",
                Code={"ZipFile": code(1)},
                Publish=True,
            )
            self.lambda_.create_alias(FunctionName=function, Name="live", FunctionVersion="1")
        self.lambda_.update_function_code(FunctionName=INGEST, ZipFile=code(2), Publish=True)
        clients = {"lambda": self.lambda_, "cloudwatch": self.cloudwatch, "codedeploy": self.codedeploy}
        monkeypatch.setattr(command, "reach", lambda _stage, _home: TARGET)
        monkeypatch.setattr(command, "clients", lambda _target: clients.__getitem__)
        monkeypatch.setattr(releasing, "POLL_SECONDS", 0)

    def starts(self, **more: str) -> None:
        content = json.dumps(
            {
                "version": 0.0,
                "Resources": [
                    {
                        "function": {
                            "Type": "AWS::Lambda::Function",
                            "Properties": {
                                "Name": INGEST,
                                "Alias": "live",
                                "CurrentVersion": "1",
                                "TargetVersion": "2",
                            },
                        }
                    }
                ],
            }
        )
        expected = {
            "applicationName": APPLICATION,
            "deploymentGroupName": INGEST,
            "description": ANY,
            "revision": {
                "revisionType": "AppSpecContent",
                "appSpecContent": {
                    "content": content,
                    "sha256": hashlib.sha256(content.encode()).hexdigest(),
                },
            },
            **more,
        }
        self.stub.add_response("create_deployment", {"deploymentId": "d-1"}, expected)

    def is_at(self, status: str, **more: Any) -> None:
        info = {"deploymentId": "d-1", "status": status, **more}
        self.stub.add_response("get_deployment", {"deploymentInfo": info}, {"deploymentId": "d-1"})

    def release(self, *arguments: str) -> Result:
        app = typer.Typer()
        command.register(app)
        with self.stub:
            result = CliRunner().invoke(app, ["--stage", "dev", *arguments], env={"COLUMNS": "200"})
        self.stub.assert_no_pending_responses()
        return result


TARGET = Target(
    api_url="x",
    region="us-east-1",
    stage="dev",
    receipts_table="x",
    records_table="x",
    tenants_table="x",
    tenants={},
    audit_queues={},
    tenant_ids=frozenset(),
)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield Stage(monkeypatch)


def test_what_has_a_newer_version_is_released_and_followed_to_the_end(stage: Stage) -> None:
    stage.starts()
    stage.is_at("InProgress")
    stage.is_at("Succeeded")

    result = stage.release("ingest", "read")

    assert result.exit_code == 0, result.output
    assert f"{READ}: nothing to do, live is at 1, the newest" in result.stdout
    assert f"{INGEST}: live 1 -> 2, deployment d-1" in result.stdout
    assert f"{INGEST}: InProgress, 100 % of the calls to 1" in result.stdout
    assert f"{INGEST}: Succeeded" in result.stdout


def test_the_share_of_the_canary_is_told(stage: Stage) -> None:
    stage.lambda_.update_alias(
        FunctionName=INGEST, Name="live", RoutingConfig={"AdditionalVersionWeights": {"2": 0.1}}
    )
    stage.starts()
    stage.is_at("Succeeded")
    assert "90 % of the calls to 1, 10 % of the calls to 2" in stage.release("ingest").stdout


def test_a_rollback_names_the_alarms_that_ring_and_where_the_alias_is(stage: Stage) -> None:
    for name, value in (("onceward-dev_ingest-errors", "ALARM"), ("onceward-dev_api-5xx", "OK")):
        stage.cloudwatch.put_metric_alarm(
            AlarmName=name, ComparisonOperator="GreaterThanThreshold", EvaluationPeriods=1
        )
        stage.cloudwatch.set_alarm_state(AlarmName=name, StateValue=value, StateReason="r")
    alarms = [{"name": "onceward-dev_ingest-errors"}, {"name": "onceward-dev_api-5xx"}]
    stage.starts()
    stage.is_at(
        "Stopped",
        errorInformation={"code": "ALARM_ACTIVE", "message": "stopped"},
        rollbackInfo={"rollbackMessage": "rolled back"},
    )
    stage.stub.add_response(
        "get_deployment_group",
        {"deploymentGroupInfo": {"alarmConfiguration": {"enabled": True, "alarms": alarms}}},
        {"applicationName": APPLICATION, "deploymentGroupName": INGEST},
    )

    result = stage.release("ingest", "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout) == [
        {
            "function": INGEST,
            "from": "1",
            "to": "2",
            "deployment": "d-1",
            "status": "Stopped",
            "reason": "ALARM_ACTIVE: stopped: rolled back",
            "alarms": ["onceward-dev_ingest-errors"],
        }
    ]
    assert "alarms that ring: onceward-dev_ingest-errors\n" in result.stderr
    assert f"{INGEST}: live is at 1" in result.stderr


def test_all_at_once_is_a_configuration_of_codedeploy(stage: Stage) -> None:
    stage.starts(deploymentConfigName="CodeDeployDefault.LambdaAllAtOnce")
    stage.is_at("Succeeded")
    assert stage.release("ingest", "--all-at-once").exit_code == 0


def test_with_nothing_due_it_says_so_and_starts_nothing(stage: Stage) -> None:
    result = stage.release("read")
    assert (result.exit_code, result.stdout) == (
        0,
        f"{READ}: nothing to do, live is at 1, the newest\n",
    )
    assert json.loads(stage.release("read", "--json").stdout) == []


@pytest.mark.parametrize(
    ("refused", "exit_code", "said"),
    [
        ("ApplicationDoesNotExistException", 2, "without `deployment: canary`"),
        ("DeploymentGroupDoesNotExistException", 1, "it has no deployment group"),
        ("DeploymentLimitExceededException", 1, "a deployment of it is under way already"),
        ("ThrottlingException", 2, "AWS did not do it"),
    ],
)
def test_what_codedeploy_refuses_is_told_in_a_line(
    stage: Stage, refused: str, exit_code: int, said: str
) -> None:
    stage.stub.add_client_error("create_deployment", refused)
    result = stage.release("ingest")
    assert result.exit_code == exit_code
    assert said in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("igest",), "none of"),
        (("dispatch",), "is the stage deployed"),
        (("--stage", "local"), "onceward local up"),
    ],
)
def test_nonsense_is_a_usage_error(stage: Stage, arguments: tuple[str, ...], said: str) -> None:
    result = stage.release(*arguments)
    assert result.exit_code == 2
    assert said in result.output


def test_interrupted_it_says_that_the_deployments_go_on(stage: Stage) -> None:
    stage.starts()
    stage.is_at("InProgress")

    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    releases = Releases(stage.lambda_, stage.codedeploy, stage.cloudwatch, APPLICATION)
    step = releases.step(INGEST)
    with stage.stub, pytest.raises(typer.Exit) as ended:
        releasing.release(releases, [step], all_at_once=False, as_json=False, sleep=interrupt)
    assert ended.value.exit_code == 130
