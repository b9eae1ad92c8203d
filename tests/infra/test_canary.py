"""How new code takes over: with the update, or by CodeDeploy, a tenth of the calls first."""

import json

import pytest

from infra.alarms import FUNCTIONS
from tests.infra.stages import previewed, run_stage, updated, with_tenants

ALIAS = "aws:lambda/alias:Alias"
GROUP = "aws:codedeploy/deploymentGroup:DeploymentGroup"
APPLICATION = "aws:codedeploy/application:Application"
ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"


def test_prod_deploys_by_canary_and_the_others_all_at_once() -> None:
    assert len(previewed("prod").of_type(APPLICATION)) == 1
    for stage in ("dev", "local"):
        assert not previewed(stage).of_type(APPLICATION)
        assert not previewed(stage).of_type(GROUP)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_update_leaves_a_canarys_alias_where_code_deploy_has_it(name: str) -> None:
    alias = updated("prod").one(ALIAS, f"{name}-live")
    assert alias.ignored == {"functionVersion", "routingConfig"}
    # The first update makes the alias, and ignores nothing then: it needs a version to point at.
    assert alias.inputs["functionVersion"] == "7"
    assert updated("dev").one(ALIAS, f"{name}-live").ignored == frozenset()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_canary_is_rolled_back_by_its_functions_alarms_and_by_5xx_of_the_api(name: str) -> None:
    run = updated("prod")
    group = run.one(GROUP, f"{name}-canary").inputs
    assert (group["appName"], group["deploymentGroupName"]) == (
        "onceward-prod_functions",
        f"onceward-prod_{name}",
    )
    assert group["deploymentConfigName"] == "CodeDeployDefault.LambdaCanary10Percent5Minutes"
    # CodeDeploy takes no other style for Lambda.
    assert group["deploymentStyle"] == {
        "deploymentType": "BLUE_GREEN",
        "deploymentOption": "WITH_TRAFFIC_CONTROL",
    }
    alarms = group["alarmConfiguration"]
    assert alarms["enabled"] is True
    assert set(alarms["alarms"]) == {
        *(f"onceward-prod_{name}-{kind}" for kind in ("errors", "throttles")),
        "onceward-prod_api-5xx",
    }
    assert set(alarms["alarms"]) <= {each.inputs["name"] for each in run.of_type(ALARM)}
    rollback = group["autoRollbackConfiguration"]
    assert rollback["enabled"] is True
    assert set(rollback["events"]) == {"DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"}


def test_code_deploy_may_move_the_stages_aliases_and_look_at_its_alarms() -> None:
    run = updated("prod")
    role = run.one("aws:iam/role:Role", "canary-role").inputs
    (trust,) = json.loads(role["assumeRolePolicy"])["Statement"]
    assert trust["Principal"] == {"Service": "codedeploy.amazonaws.com"}
    policy = json.loads(run.one("aws:iam/rolePolicy:RolePolicy", "canary-policy").inputs["policy"])
    allowed = {action: each["Resource"] for each in policy["Statement"] for action in each["Action"]}
    functions = ["arn:aws:lambda:eu-west-1:123456789012:function:onceward-prod_*"]
    assert allowed == {
        "lambda:GetAlias": functions,
        "lambda:GetProvisionedConcurrencyConfig": functions,
        "lambda:UpdateAlias": functions,
        "cloudwatch:DescribeAlarms": ["arn:aws:cloudwatch:eu-west-1:123456789012:alarm:onceward-prod_*"],
    }


def test_any_stage_on_aws_can_deploy_by_canary() -> None:
    run = run_stage("dev", with_tenants([]), deployment="canary")
    assert len(run.of_type(GROUP)) == len(FUNCTIONS)
