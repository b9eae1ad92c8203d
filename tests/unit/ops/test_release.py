"""`onceward release`: what it starts, how it follows, and what it says of a rollback."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, get_args

import boto3
import pytest
import typer
from botocore.stub import ANY, Stubber
from moto import mock_aws
from typer.testing import CliRunner

from infra.settings import FunctionName
from infra.waves import WAVES
from loadtest.target import Target
from ops import releasing
from ops.commands import release as command
from ops.release import How, Releases
from tests.unit.ops.test_rollback import code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer.testing import Result

APPLICATION = "onceward-dev_functions"
INGEST, READ, DISPATCH = "onceward-dev_ingest", "onceward-dev_read", "onceward-dev_dispatch"


class Stage:
    """Stage `dev`: `ingest` has a version 2 and `live` on 1, `read` is up to date; CodeDeploy is stubbed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lambda_ = boto3.client("lambda", region_name="us-east-1")
        self.cloudwatch = boto3.client("cloudwatch", region_name="us-east-1")
        self.codedeploy = boto3.client("codedeploy", region_name="us-east-1")
        self.stub = Stubber(self.codedeploy)
        made = boto3.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="{}")
        self.role = made["Role"]["Arn"]
        self.publish(READ)
        self.newer(INGEST)
        clients = {"lambda": self.lambda_, "cloudwatch": self.cloudwatch, "codedeploy": self.codedeploy}
        monkeypatch.setattr(command, "reach", lambda _stage, _home: TARGET)
        monkeypatch.setattr(command, "clients", lambda _target: clients.__getitem__)
        monkeypatch.setattr(releasing, "POLL_SECONDS", 0)

    def publish(self, function: str) -> None:
        self.lambda_.create_function(
            FunctionName=function,
            Runtime="python3.13",
            Role=self.role,
            Handler="handler.handler",
            Code={"ZipFile": code(1)},
            Publish=True,
        )
        self.lambda_.create_alias(FunctionName=function, Name="live", FunctionVersion="1")

    def newer(self, function: str) -> None:
        """A function with a version 2, and `live` on 1."""
        self.publish(function)
        self.lambda_.update_function_code(FunctionName=function, ZipFile=code(2), Publish=True)

    def starts(self, function: str = INGEST, deployment: str = "d-1", **more: Any) -> None:
        content = json.dumps(
            {
                "version": 0.0,
                "Resources": [
                    {
                        "function": {
                            "Type": "AWS::Lambda::Function",
                            "Properties": {
                                "Name": function,
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
            "deploymentGroupName": function,
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
        self.stub.add_response("create_deployment", {"deploymentId": deployment}, expected)

    def is_at(self, status: str, deployment: str = "d-1", **more: Any) -> None:
        info = {"deploymentId": deployment, "status": status, **more}
        self.stub.add_response("get_deployment", {"deploymentInfo": info}, {"deploymentId": deployment})

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
        (("deliver",), "is the stage deployed"),
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
        releasing.release(releases, [[step]], How(), as_json=False, sleep=interrupt)
    assert ended.value.exit_code == 130


def test_a_fix_can_be_released_while_its_alarms_ring(stage: Stage) -> None:
    stage.starts(overrideAlarmConfiguration={"enabled": False})
    stage.is_at("Succeeded")
    assert stage.release("ingest", "--ignore-alarms").exit_code == 0


def test_what_takes_requests_waits_until_what_works_on_them_is_released(stage: Stage) -> None:
    stage.newer(DISPATCH)
    stage.starts(DISPATCH, "d-2")
    stage.is_at("InProgress", "d-2")
    stage.is_at("Succeeded", "d-2")
    # The stub takes the calls in this order only.
    stage.starts()
    stage.is_at("Succeeded")

    # However they are named.
    result = stage.release("ingest", "dispatch")

    assert result.exit_code == 0, result.output
    done = result.stdout.index(f"{DISPATCH}: Succeeded")
    assert done < result.stdout.index(f"{INGEST}: live 1 -> 2")


def test_what_takes_requests_stays_when_what_works_on_them_was_rolled_back(stage: Stage) -> None:
    stage.newer(DISPATCH)
    stage.starts(DISPATCH, "d-2")
    stage.is_at("Failed", "d-2")
    stage.stub.add_response("get_deployment_group", {"deploymentGroupInfo": {}})

    result = stage.release("ingest", "dispatch", "--json")

    assert result.exit_code == 1
    assert [(one["function"], one["status"]) for one in json.loads(result.stdout)] == [
        (DISPATCH, "Failed"),
        (INGEST, "NotStarted"),
    ]
    assert f"{INGEST}: not started: it would take in what {DISPATCH} cannot handle yet" in result.stderr


def test_every_function_is_in_one_wave() -> None:
    assert sorted(name for wave in WAVES for name in wave) == sorted(get_args(FunctionName))
