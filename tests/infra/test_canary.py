"""How new code takes over: with the update, or by CodeDeploy, a tenth of the calls first."""

import json
from typing import Any

import pytest

from handlers.domain.metric_catalogue import BY_FUNCTION, service_name
from infra.alarms import FUNCTIONS
from infra.components import canary
from infra.naming import Names
from infra.settings import FunctionName
from infra.waves import CONSUMERS, TAKERS
from tests.infra.stages import previewed, run_stage, updated, with_tenants

ALIAS = "aws:lambda/alias:Alias"
GROUP = "aws:codedeploy/deploymentGroup:DeploymentGroup"
APPLICATION = "aws:codedeploy/application:Application"
ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
CANARY_SECONDS = 300
FAILED = {
    *("Failed", "DispatchFailed", "NotifyFailed", "ReconcileFailed"),
    "WorkBroke",  # of DeliveryFailed and FulfilmentFailed those that are no destination's
}


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
def test_a_canary_is_rolled_back_by_its_functions_alarms(name: FunctionName) -> None:
    run = updated("prod")
    group = run.one(GROUP, f"{name}-canary").inputs
    assert (group["appName"], group["deploymentGroupName"]) == (
        "onceward-prod_functions",
        f"onceward-prod_{name}",
    )
    # Called once a minute, reconcile would mostly not be called at all within five minutes at ten per cent.
    kind = "Linear10PercentEvery1Minute" if name == "reconcile" else "Canary10Percent5Minutes"
    assert group["deploymentConfigName"] == f"CodeDeployDefault.Lambda{kind}"
    # CodeDeploy takes no other style for Lambda.
    assert group["deploymentStyle"] == {
        "deploymentType": "BLUE_GREEN",
        "deploymentOption": "WITH_TRAFFIC_CONTROL",
    }
    alarms = group["alarmConfiguration"]
    assert alarms["enabled"] is True
    assert set(alarms["alarms"]) <= {each.inputs["name"] for each in run.of_type(ALARM)}
    assert len(alarms["alarms"]) <= 10  # CodeDeploy's most
    rollback = group["autoRollbackConfiguration"]
    assert rollback["enabled"] is True
    assert set(rollback["events"]) == {"DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"}


def watched_alarms(name: FunctionName) -> list[dict[str, Any]]:
    """Each with the one metric that it is about, by name or in a query."""
    made = {each.inputs["name"]: each.inputs for each in updated("prod").of_type(ALARM)}
    found = [made[alarm] for alarm in canary.watched(name, Names("prod"))]
    metrics = [
        [query["metric"] for query in each.get("metricQueries", []) if "metric" in query] for each in found
    ]
    assert all(len(each) <= 1 for each in metrics)
    return [each | (of[0] if of else {}) for each, of in zip(found, metrics, strict=True)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_version_that_fails_everything_rings_an_alarm_of_its_canary_in_time(name: FunctionName) -> None:
    service = {"Service": service_name("prod", name)}
    own = [each for each in watched_alarms(name) if each.get("dimensions") == service]
    # What the function itself emits (tests/integration/test_every_outcome.py has it do so).
    emitted = {metric.name for metric in BY_FUNCTION[name]}
    said = [each for each in own if each["metricName"] in emitted]
    fast = [each for each in said if each["period"] * each["evaluationPeriods"] <= CANARY_SECONDS]
    assert [each["metricName"] for each in fast if each["metricName"] in FAILED]
    assert all(each["threshold"] <= 3 for each in fast)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_version_that_cannot_even_be_imported_does_too(name: FunctionName) -> None:
    # Anybody can make the authorizer raise: of it the API's answers have to do.
    wanted = "5XXError" if name == "authorizer" else "Errors"
    (alarm,) = [each for each in watched_alarms(name) if each["metricName"] == wanted]
    assert alarm["period"] * alarm["evaluationPeriods"] <= CANARY_SECONDS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_down_outside_stops_no_release(name: FunctionName) -> None:
    outside = {"EffectFailed", "EffectUnknown", "LookupImpossible"}
    outside |= {"DeliveryFailed", "FulfilmentFailed", "WorkGivenUp"}
    # A topic is its tenant's, and one receipt that nobody can dispatch is tried for a day.
    outside |= {"DispatchParked", "StillParked", "TopicRefused"}
    # The API's 5xx has the 502 and 504 of providers in it.
    outside |= set() if name == "authorizer" else {"5XXError"}
    assert not outside & {each["metricName"] for each in watched_alarms(name)}


@pytest.mark.parametrize("stage", ["dev", "prod"])
@pytest.mark.parametrize("name", TAKERS)
def test_what_takes_requests_is_moved_after_what_works_on_them(stage: str, name: str) -> None:
    run = updated(stage)
    earlier = {run.one(ALIAS, f"{each}-live").urn for each in CONSUMERS}
    assert earlier <= run.one(ALIAS, f"{name}-live").dependencies
    for each in CONSUMERS:
        assert not earlier & run.one(ALIAS, f"{each}-live").dependencies


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_a_route_goes_live_after_what_works_on_its_requests(stage: str) -> None:
    run = updated(stage)
    deployment = run.one("aws:apigateway/deployment:Deployment", "deployment")
    assert {run.one(ALIAS, f"{each}-live").urn for each in CONSUMERS} <= deployment.dependencies


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
